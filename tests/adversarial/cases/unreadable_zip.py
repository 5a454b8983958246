"""Hands in a zip that cannot be read: cut short, with a password, in another compression, or none at all.

Seen: uploads that broke off; LZMA members that ask for gigabytes of dictionary before the first byte comes out.
Stopped by: each is one line that says what to do, and nobody's grade.
"""

import zipfile

from tests.adversarial.case import Expected, Variant
from tests.adversarial.containers import STUB_TEXT, zipped

ATTACK = "unreadable_zip"

MEMBER = ("memory/state.py", STUB_TEXT)


def with_password(content):
    """The flag of a password in the table of contents and before the member."""
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(signature) + at
        content = content[:place] + bytes([content[place] | 1]) + content[place + 1 :]
    return content


def with_another_byte(content):
    """One byte of the member's data is another one: its checksum no longer fits, whatever compressed it."""
    place = 30 + len(MEMBER[0]) + 40
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


def unreadable(name, said, **how):
    return Variant(name, zipped(MEMBER, **how), Expected(refused=said))


VARIANTS = (
    unreadable("cut_short", "not a readable zip", change=lambda content: content[:-30]),
    unreadable("password", "is password-protected", change=with_password),
    unreadable("lzma", "zip it again with the usual deflate", method=zipfile.ZIP_LZMA),
    unreadable("damaged", "not a readable zip", change=with_another_byte),
    unreadable("no_zip", "not a readable zip", change=lambda content: b"this is no zip\n"),
)
