"""Which experts answer a round: feedback graphs over kernels, and draws from their nodes."""
