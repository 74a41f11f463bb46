"""Works that several docstrings cite, each said once.

A docstring's section References names them by authors and year, ``.. [1] Zinkevich 2003, Theorem
1.``, and where in the work; the rest is filled in at import.
"""

import re
import textwrap

_WORKS = {
    "Bhatnagar et al. 2023": 'A. Bhatnagar, H. Wang, C. Xiong, Y. Bai, "Improved online conformal '
    'prediction via strongly adaptive online learning", International Conference on Machine '
    "Learning, 2023",
    "Calandriello et al. 2017a": 'D. Calandriello, A. Lazaric, M. Valko, "Second-order kernel '
    'online convex optimization with adaptive sketching", International Conference on Machine '
    "Learning, 2017",
    "Calandriello et al. 2017b": 'D. Calandriello, A. Lazaric, M. Valko, "Efficient second-order '
    'online kernel learning with adaptive embedding", Advances in Neural Information Processing '
    "Systems 30, 2017",
    "Cesa-Bianchi & Lugosi 2006": 'N. Cesa-Bianchi, G. Lugosi, "Prediction, Learning, and Games", '
    "Cambridge University Press, 2006",
    "Chernov & Vovk 2009": 'A. Chernov, V. Vovk, "Prediction with expert evaluators\' advice", '
    "Algorithmic Learning Theory (ALT), 2009",
    "Cover & Ordentlich 1996": 'T. M. Cover, E. Ordentlich, "Universal portfolios with side '
    'information", IEEE Transactions on Information Theory 42(2), 1996',
    "Daniely et al. 2015": 'A. Daniely, A. Gonen, S. Shalev-Shwartz, "Strongly adaptive online '
    'learning", International Conference on Machine Learning (ICML), 2015',
    "Dawid 1984": 'A. P. Dawid, "Present position and potential developments: some personal '
    'views: statistical theory: the prequential approach", Journal of the Royal Statistical '
    "Society A 147(2), 1984",
    "Friedman 2001": 'J. H. Friedman, "Greedy function approximation: a gradient boosting '
    'machine", Annals of Statistics 29(5), 2001',
    "Gaillard & Goude": 'P. Gaillard, Y. Goude, "opera: online prediction by expert aggregation", '
    "R package",
    "Gaillard et al. 2014": 'P. Gaillard, G. Stoltz, T. van Erven, "A second-order bound with '
    'excess losses", COLT 2014',
    "Gama et al. 2013": 'J. Gama, R. Sebastiao, P. P. Rodrigues, "On evaluating stream learning '
    'algorithms", Machine Learning 90, 2013',
    "Ghari & Shen 2023": 'P. M. Ghari, Y. Shen, "Graph-aided online multi-kernel learning", '
    "Journal of Machine Learning Research 24, 2023",
    "Gibbs & Candès 2021": 'I. Gibbs, E. Candès, "Adaptive conformal inference under distribution '
    'shift", Advances in Neural Information Processing Systems 34, 2021',
    "Gneiting & Raftery 2007": 'T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, '
    'prediction, and estimation", Journal of the American Statistical Association 102(477), 2007',
    "Guo et al. 2017": 'C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern '
    'neural networks", International Conference on Machine Learning (ICML), 2017',
    "Jacobsen & Cutkosky 2024": 'A. Jacobsen, A. Cutkosky, "Online linear regression in dynamic '
    'environments via discounting", International Conference on Machine Learning (ICML), 2024',
    "Jézéquel et al. 2019": 'R. Jézéquel, P. Gaillard, A. Rudi, "Efficient online learning with '
    'kernels for adversarial large scale problems", Advances in Neural Information Processing '
    "Systems, 2019",
    "Jézéquel et al. 2020": 'R. Jézéquel, P. Gaillard, A. Rudi, "Efficient improper learning for '
    'online logistic regression", Conference on Learning Theory (COLT), 2020',
    "Li & Liao 2022": 'J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under '
    'Bandit Feedback", European Conference on Machine Learning (ECML-PKDD), 2022',
    "Li & Liao 2023": 'J. Li, S. Liao, "Nearly optimal algorithms with sublinear computational '
    'complexity for online kernel regression", International Conference on Machine Learning, 2023',
    "Lu et al. 2016": 'J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large scale online '
    'kernel learning", Journal of Machine Learning Research 17, 2016',
    "Raftery et al. 2010": 'A. E. Raftery, M. Kárný, P. Ettler, "Online prediction under model '
    'uncertainty via dynamic model averaging", Technometrics 52(1), 2010',
    "Rahimi & Recht 2007": 'A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel '
    'Machines", NIPS 2007',
    "Rasmussen & Williams 2006": 'C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for '
    'Machine Learning", MIT Press 2006',
    "Rokhlin & Gurtovaya 2025": 'D. B. Rokhlin, O. V. Gurtovaya, "Random feature-based double '
    'Vovk-Azoury-Warmuth algorithm for online multi-kernel learning", 2025',
    "Shen et al. 2019": 'Y. Shen, T. Chen, G. B. Giannakis, "Random feature-based online '
    'multi-kernel learning in environments with unknown dynamics", Journal of Machine Learning '
    "Research 20, 2019",
    "Vovk 1990": 'V. Vovk, "Aggregating strategies", Computational Learning Theory (COLT), 1990',
    "Weinberger & Ordentlich 2002": 'M. J. Weinberger, E. Ordentlich, "On delayed prediction of '
    'individual sequences", IEEE Transactions on Information Theory 48(7), 2002',
    "Wintenberger 2017": 'O. Wintenberger, "Optimal learning with Bernstein online aggregation", '
    "Machine Learning 106(1), 2017",
    "Zinkevich 2003": 'M. Zinkevich, "Online convex programming and generalized infinitesimal '
    'gradient ascent", International Conference on Machine Learning, 2003',
}
_SHORT = re.compile("|".join(map(re.escape, _WORKS)))
_WIDTH = 96  # of lines that have been filled in


def in_full(lines):
    """Return the lines of a section References with the works in full."""
    entries = re.split(r"\n(?=\.\. \[)", "\n".join(lines))
    return [line for entry in entries for line in _written(entry)]


def _written(entry):
    """Return the lines of one reference, as it is if it names no work of these."""
    said, found = _SHORT.subn(lambda short: _WORKS[short[0]], entry)
    if not found:
        return entry.splitlines()
    indent = "   " * said.startswith(".. [")
    return textwrap.wrap(said, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)
