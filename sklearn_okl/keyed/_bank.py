def bank_of(estimator):
    return None
