//! Generators and oracles that the fuzz targets and the tests share.
