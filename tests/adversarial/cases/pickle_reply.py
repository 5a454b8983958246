"""Returns or raises objects that run code where they are unpickled.

Seen: multiprocessing pools and torch.load in graders; a pickled reply runs its __reduce__ in the parent.
Stopped by: nothing that comes from a worker is unpickled; values of a kind that is not known do not cross.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "pickle_reply"

BOMB = """
class Bomb:
    def __reduce__(self):
        return (exec, ("open('@HERE@/pwned', 'w').close()",))
    __getstate__ = __reduce_ex__ = lambda self, protocol=0: self.__reduce__()
class Boom(Exception):
    __reduce__ = Bomb.__reduce__
"""


def here(folder, solutions):
    return {"HERE": str(folder)}


def returns(answer: str) -> object:
    return state(top=BOMB, answer=answer, fill_in=here)


VARIANTS = (
    Variant("returned", returns("Bomb()"), Expected(says="a Bomb cannot be sent")),
    Variant(
        "nested",
        returns("{'weights': 2, 'gradients': 2, 'master': Bomb(), 'moments': [Bomb()]}"),
        Expected(says="a Bomb cannot be sent"),
    ),
    Variant("raised", state(top=BOMB, call="raise Boom(Bomb())", fill_in=here), Expected(says="raised Boom")),
    Variant(
        "pickled_bytes", state(top=BOMB, call="import pickle", answer="pickle.dumps(Bomb())", fill_in=here), Expected()
    ),
)
