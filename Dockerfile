# Grades with --isolation user where user namespaces are forbidden, as they are in a plain Docker container.
#
#   docker build -t rooflab . && docker run --rm --network none -v "$PWD/submissions:/submissions:ro" \
#       -v "$PWD/grades:/grades" rooflab
#
# Everything that a submission must not read is closed to other users below /opt/rooflab; Python and the libraries are
# outside of it, where every user reads them. SECURITY.md says what of this file was tried and what was not.
FROM python:3.11-slim

RUN python -m venv /opt/venv
WORKDIR /opt/rooflab
COPY . .
RUN /opt/venv/bin/pip install --no-cache-dir -c constraints.txt -e '.[kernels,instructor]' \
    && chmod -R go-rwx /opt/rooflab

VOLUME ["/submissions", "/grades"]
# Root: it starts each worker as a user of its own.
USER root
CMD ["sh", "-c", "chmod 700 /grades && /opt/venv/bin/grader grade /submissions/* --out /grades --isolation user --seed-file /grades/course-seed"]
