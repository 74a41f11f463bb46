"""Maps from inputs to features whose inner products are a kernel."""

from ._fourier import FourierFeatures
from ._taylor import TaylorFeatures

__all__ = ["FourierFeatures", "TaylorFeatures"]
