# prof-analysis with the versions of requirements.lock, for a user without rights and without a network.
#   docker build -t prof-analysis .
#   docker run --rm --network none --user "$(id -u):$(id -g)" -v "$PWD/result:/profile" prof-analysis
# This writes result/cluster_analysis_output; other words ask another question: "prof-analysis advise /profile".
FROM python:3.13-slim AS build
WORKDIR /checkout
COPY requirements.lock ./
RUN python -m venv /opt/prof-analysis \
    && /opt/prof-analysis/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY docs docs
COPY sql sql
COPY prof_analysis prof_analysis
RUN /opt/prof-analysis/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
COPY --from=build /opt/prof-analysis /opt/prof-analysis
RUN useradd --create-home --uid 10001 analyst
# A cache would end with the container.
ENV PATH=/opt/prof-analysis/bin:$PATH PROF_ANALYSIS_CACHE=off
USER 10001
ENTRYPOINT ["prof-analysis"]
CMD ["module-stats", "-d", "/profile", "--export_type", "db"]
