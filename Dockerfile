# Shoal as a command, on the files of this folder and by their owner:
#   docker build --tag shoal .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/data" --volume shoal-state:/state \
#       shoal release people.toml --out released
# The volume shoal-state keeps the witnesses of ledgers from one run to the next.
# The workbench and the service listen on the machine they run on, so they are not for this image.
FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY packaging packaging
COPY src src
RUN python -m venv /venv && \
    /venv/bin/pip install --no-cache-dir '.[arx,buckets,files,frames,personal,plots,sql,utility]'

FROM python:3.13-slim-bookworm
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=/state
# Not root: what is released should not be owned by it. Whoever --user names may write witnesses.
RUN useradd --create-home --uid 1000 shoal && mkdir --mode=1777 /state
USER 1000
WORKDIR /data
ENTRYPOINT ["shoal"]
CMD ["--help"]
