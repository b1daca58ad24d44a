# Tasks of the project; 'make' lists them.
PYTHON ?= python

.PHONY: help develop wheel lint test test-rust test-train

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

develop: ## install this checkout for working on it (editable, with tools)
	$(PYTHON) -m pip install -e '.[dev]'

wheel: ## build the wheel into dist/ (one for Python 3.10 and later)
	$(PYTHON) -m maturin build --release --out dist

test: ## run the Python tests on the installed package
	$(PYTHON) -m pytest

test-rust: ## run the Rust tests
	cargo test --workspace

test-train: ## run the tests of training; needs PyTorch and PufferLib (.ci/install_trainer)
	$(PYTHON) -m pytest -m train

lint: ## check format, lints and types of everything
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
