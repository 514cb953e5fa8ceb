# syntax=docker/dockerfile:1
# One image for every part: `flotilla serve web|observe|git|beat`. It runs as nobody in particular on a read-only root;
# what it keeps lies in /data.

FROM python:3.13-slim-trixie AS build
RUN pip install --no-cache-dir uv==0.13.9
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/opt/flotilla
WORKDIR /src
# Dependencies first, by the hashes in uv.lock: they change less often than the code.
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/root/.cache/uv uv sync --locked --no-dev --no-install-project
COPY README.md LICENSE ./
COPY fleet fleet
COPY clusters_app clusters_app
COPY templates templates
COPY cookiecutter-repo cookiecutter-repo
RUN --mount=type=cache,target=/root/.cache/uv uv sync --locked --no-dev --no-editable
ENV FLOTILLA_STATIC_ROOT=/opt/flotilla/static FLOTILLA_DATA_DIR=/tmp/build
RUN /opt/flotilla/bin/flotilla collectstatic --noinput

FROM python:3.13-slim-trixie
# git and ssh speak to repositories. Versions are Debian's: pinned ones vanish from its mirrors at each security fix.
ARG DEBIAN_FRONTEND=noninteractive
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin flotilla \
    && install -d -o flotilla -g flotilla -m 0700 /data
COPY --from=build /opt/flotilla /opt/flotilla
ENV PATH=/opt/flotilla/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    FLOTILLA_STATIC_ROOT=/opt/flotilla/static \
    FLOTILLA_DATA_DIR=/data
LABEL org.opencontainers.image.title="Flotilla" \
      org.opencontainers.image.description="A fleet manager for Flux" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["flotilla", "healthy", "web"]
ENTRYPOINT ["flotilla"]
CMD ["serve", "web", "--host", "0.0.0.0"]
