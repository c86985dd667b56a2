"""The results page: job folders in, one HTML file out. It draws; every figure comes from `analysis` or the verdict."""
