# The locked environment with the repository in it, for those who would rather install nothing:
#
#   docker build --tag failbench .
#   docker run --rm failbench                  # what the command line can do
#   docker run --rm failbench make repro       # the whole pipeline, and a comparison with this commit
#
# A tag and no digest: it gets Debian's security updates, and results do not rest on what is below the
# lock, whose packages are held by hashes. To hold the base as well, name one of a registry:
#   docker build --build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:... .
# torch, and so what records runs and the tests that do, is left out, as it is for `make repro`.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
FROM ${PYTHON_IMAGE}

# git: the comparison asks it for the committed results; make: the targets; libgomp1: LightGBM's threads.
# Their versions are the distribution's: a pin would break with its next update.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git libgomp1 make \
    && rm -rf /var/lib/apt/lists/*

# The folder is made by name: some builders make a WORKDIR as root, whoever is the user.
RUN groupadd --gid 1000 failbench \
    && useradd --create-home --uid 1000 --gid 1000 failbench \
    && install --directory --owner=failbench --group=failbench /home/failbench/failbench
USER 1000:1000
WORKDIR /home/failbench/failbench

# Before the code, so that a change of code installs nothing again.
COPY --chown=1000:1000 requirements.lock ./
RUN python3.11 -m venv .venv \
    && .venv/bin/python -m pip install --no-cache-dir --no-compile --require-hashes -r requirements.lock

# The stamp tells the Makefile that the environment is there.
COPY --chown=1000:1000 . .
RUN .venv/bin/python -m pip install --no-cache-dir --no-deps --no-build-isolation --editable . \
    && touch .venv/.study-installed

ENV PATH="/home/failbench/failbench/.venv/bin:${PATH}"
CMD ["failbench", "--help"]
