"""Tests of uncertainty, and the noisy logs that tests of estimators share."""
