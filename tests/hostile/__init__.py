"""Hostile files: small seeds written by us, and the fuzzer that grows a corpus from them."""
