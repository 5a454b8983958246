"""Changes the process it runs in for its next calls: the environment, the working folder, limits, the hash, defaults.

Seen: a submission that set PYTHONPATH for the graders that were started after it.
Stopped by: a worker's environment is its own and ends with it; the next worker is started by the judge from nothing.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "environment_patch"

VARIABLES = """
import os, sys
os.environ.update(PYTHONPATH="/submission", PYTEST_ADDOPTS="--collect-only", LD_PRELOAD="/submission/x.so", PYTHONSTARTUP="/submission/x.py")
os.chdir("/")
sys.path[:0] = ["/submission", "/submission/memory"]
sys.setswitchinterval(100)
sys.setrecursionlimit(50_000)
os.umask(0)
os.nice(19)
"""
PREFERENCES = """
import decimal, locale, warnings, random
decimal.getcontext().prec = 1
warnings.simplefilter("error")
random.random = random.randrange = lambda *a: 0
for path in ("/tmp/sitecustomize.py", "/tmp/usercustomize.py", "/kit/sitecustomize.py", "/kit-site/evil.pth"):
    try:
        open(path, "w").write("import os; os._exit(0)")
    except OSError:
        pass
"""
DEFAULTS = """
import torch
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
torch.set_grad_enabled(False)
"""

VARIANTS = (
    Variant("variables", state(top=VARIABLES), Expected(says="weights")),
    Variant("preferences", state(top=PREFERENCES), Expected(says="weights")),
    Variant("torch_defaults", state(top=DEFAULTS), Expected(says="weights"), takes_s=6),
)
