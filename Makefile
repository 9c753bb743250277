# `make demo`, `make studio` and `make test` do all set-up by themselves, in a virtual environment of their own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_MARKS := -m "not browser$(if $(SLOW),, and not slow)"

.PHONY: demo studio test docs clean

demo: $(VENV)/.installed
	@mkdir -p out
	$(BIN)/surefoot simulate human/walk --push 2,0,-160,0,0.4 --seconds 6 --save out/push.png --save out/push.gif
	$(BIN)/surefoot simulate human/skip --seconds 6 --save out/skip.png
	@echo "pushed aside, it catches itself and walks on: out/push.png, out/push.gif; a skip: out/skip.png"
	@echo "next: . $(BIN)/activate, and then for instance: surefoot list"

studio: $(VENV)/.installed-studio
	$(BIN)/surefoot studio

test: $(VENV)/.installed-test
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	$(BIN)/pytest -n 2 $(PYTEST_MARKS)
	$(BIN)/pytest -m browser

docs: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "open site/index.html; to search, serve it: python -m http.server -b 127.0.0.1 -d site"

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 14) else f"Surefoot needs Python 3.11-3.13, this is {v[0]}.{v[1]}: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-studio: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[studio]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

clean:
	rm -rf $(VENV) out site
