# Shoal as a command: docker run --rm --volume "$PWD:/data" shoal release people.toml --out released
# The workbench and the service listen on the machine they run on, so they are not for this image.
FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY packaging packaging
COPY src src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir '.[frames,plots,sql,utility]'

FROM python:3.13-slim-bookworm
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
# Not root: what is released should not be owned by it.
RUN useradd --create-home --uid 1000 shoal
USER 1000
WORKDIR /data
ENTRYPOINT ["shoal"]
CMD ["--help"]
