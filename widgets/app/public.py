"""The app for others: who may open it, from which address, what one visit may take, and when an idle one ends."""

import asyncio
import hmac
import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bokeh.document import Document
from tornado.httputil import HTTPServerRequest
from tornado.web import GZipContentEncoding, RequestHandler

from playground.errors import UserError
from playground.training.system.turns import Turns
from widgets.app.limits import memory_of_visit
from widgets.app.server import OWN_NAMES
from widgets.bundle import sheet
from widgets.design_tokens import properties
from widgets.panel_compat import AuthProvider, last_message
from widgets.state.classroom import Classrooms
from widgets.state.quota import Quota

PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)*")
HOST = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?")

FROM_ENVIRONMENT, VARIABLE = "env", "PLAYGROUND_PASSWORD"
"""What is written in the place of a file whose first line is the password, and the variable that then holds it."""

COOKIE, DAYS = "playground-entry", 1
WRONG_WAITS = 1.0  # seconds until a wrong password is refused; so many tries a second and no more
IDLE_MINUTES = 30  # minutes without a click, a key or a training, after which a visit ends
CROWDED_MINUTES = 5  # the same where all places are taken

TURN_SECONDS = 3.0
"""Seconds of one turn in training: with twenty who wait, each sees its curve move once a minute."""

UPLOAD, MESSAGE = 5_000_000, 10_000_000  # bytes of a file, and of one message, which holds a file as text
KEPT_RUNS, CHECKPOINTS = 10, 4
"""Runs that are kept of one visit, and checkpoints of each."""


@dataclass(frozen=True)
class Public:
    """How the app is served to others: below which path, to pages of which hosts, behind which password if any.

    `scheme` is that of the first origin that was written with one, as in https://play.example.org. `key` opens the
    teacher's page of a class.
    """

    prefix: str = ""
    origins: tuple[str, ...] = ()
    scheme: str = ""
    password: str = field(default="", repr=False)
    quota: Quota = field(default_factory=lambda: shared_quota(os.cpu_count() or 1))
    key: str = field(default_factory=lambda: secrets.token_urlsafe(6), repr=False)

    @cached_property
    def classes(self) -> Classrooms:
        """The classes of this server, whose teachers know the key."""
        return Classrooms(self.key, self.quota.in_line)


def shared_quota(cores: int) -> Quota:
    """The share of each visit: runs train in turns, and one processor is left to answer."""
    return Quota(Turns(max(1, cores - 1), TURN_SECONDS), UPLOAD, KEPT_RUNS, CHECKPOINTS, memory_of_visit())


def public(prefix: str, password: str, origins: Iterable[str]) -> Public:
    """What the options of the command line say, or a refusal in a sentence."""
    prefix = prefix.rstrip("/")
    if not PREFIX.fullmatch(prefix):
        raise UserError(f"The prefix {prefix!r} is not a path; write it as in /playground.")
    read = [_origin(origin) for origin in origins]
    scheme = next((scheme for scheme, _ in read if scheme), "")
    return Public(prefix, tuple(host for _, host in read), scheme, _password(password) if password else "")


def _origin(written: str) -> tuple[str, str]:
    """The scheme and the host of an origin; the scheme may be left out."""
    scheme, _, rest = written.rpartition("://")
    host = rest.partition("/")[0]
    if scheme not in ("", "http", "https") or not HOST.fullmatch(host):
        raise UserError(f"The origin {written!r} is not a host; write it as in play.example.org or localhost:8080.")
    return scheme, host.lower()


def _password(where: str) -> str:
    """The first line of a file, or what the environment holds."""
    if where == FROM_ENVIRONMENT:
        source, text = f"The environment variable {VARIABLE}", os.environ.get(VARIABLE, "")
    else:
        source = f"The file {where}"
        try:
            text = Path(where).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{source} cannot be read ({error}); its first line is the password.") from error
    password = text.strip().splitlines()[0].strip() if text.strip() else ""
    if not password:
        raise UserError(f"{source} is empty; it holds the password.")
    return password


def host_name(origin: str) -> str:
    """The host of an origin without the port."""
    return origin.partition(":")[0]


def addresses(port: int) -> tuple[str, ...]:
    """The hosts under which this machine is reached without a proxy."""
    names = {*OWN_NAMES, socket.gethostname().lower()}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))  # sends nothing; it asks which address would be used
            names.add(probe.getsockname()[0])
        except OSError:
            pass  # no network: only this machine itself
    return tuple(f"{name}:{port}" for name in sorted(names))


def reachable(address: str, origins: Iterable[str] = (), scheme: str = "") -> str:
    """An address as other machines open it: `localhost` in it becomes the name by which they know this machine."""
    parts = urlsplit(address)
    if parts.hostname not in OWN_NAMES:
        return address
    hosts = origins or addresses(parts.port or 80)
    named = next((host for host in hosts if host_name(host) not in OWN_NAMES), "")
    return parts._replace(scheme=scheme or parts.scheme, netloc=named).geturl() if named else address


class Gzip(GZipContentEncoding):
    """Compresses what is sent, the quickest way: the scripts of a page, 4.4 MB, are a wait for a class on one Wi-Fi."""

    GZIP_LEVEL = 1


# the password

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pretraining Playground</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>
<body><header>Pretraining Playground</header><main>{inside}</main></body></html>"""
"""A page without a script."""

FORM = """<form method="post">{wrong}<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
<input type="hidden" name="next" value="{after}"><button>Open the playground</button></form>"""


class Page(RequestHandler):
    """A plain page of ours, which no other page may frame."""

    def set_default_headers(self) -> None:
        self.set_header("X-Frame-Options", "DENY")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")

    def show(self, inside: str) -> None:
        self.finish(PAGE.format(style=properties(":root") + sheet(__file__), inside=inside))


def password_form(password: str, prefix: str) -> type[Page]:
    """The page that asks for a password; whoever knows it gets a cookie that names nobody."""
    digest = sha256(password.encode()).digest()
    home = f"{prefix}/"

    class PasswordForm(Page):
        def get(self) -> None:
            self._ask()

        async def post(self) -> None:
            given = sha256(self.get_body_argument("password", "").encode()).digest()
            if not hmac.compare_digest(given, digest):
                await asyncio.sleep(WRONG_WAITS)
                self.set_status(403)
                self._ask('<p class="wrong" role="alert">That is not the password.</p>')
                return
            safe = {"httponly": True, "samesite": "Lax", "secure": self.request.protocol == "https"}
            self.set_signed_cookie(COOKIE, "yes", expires_days=DAYS, path=home, **safe)
            self.redirect(self._after)

        @property
        def _after(self) -> str:
            """Where the visitor was going, if that is within the app."""
            target = self.get_argument("next", home)
            there = target.startswith(home) and not target.startswith("//") and "\\" not in target
            return target if there else home

        def _ask(self, wrong: str = "") -> None:
            self.show(FORM.format(wrong=wrong, after=escape(self._after)))

    return PasswordForm


class Password(AuthProvider):
    """Lets in whoever has the cookie; everybody else is asked for the password."""

    def __init__(self, password: str, prefix: str) -> None:
        self._form, self._prefix = password_form(password, prefix), prefix
        super().__init__()

    @property
    def get_user(self) -> Callable[[HTTPServerRequest], str | None]:
        return lambda handler: "visitor" if handler.get_signed_cookie(COOKIE, max_age_days=DAYS) else None

    @property
    def get_login_url(self) -> Callable[[HTTPServerRequest], str]:
        def address(handler: Any) -> str:
            """From the page that was asked for; Panel writes a dot before it."""
            deeper = handler.request.path.removeprefix(self._prefix).strip("/").count("/")
            return "/.." * deeper + "/login"

        return address

    @property
    def endpoints(self) -> list[tuple[str, type[RequestHandler]]]:
        return [("/login", self._form)]


def guarded(public: Public) -> dict[str, object]:
    """The options of the server that ask for the password, where there is one."""
    if not public.password:
        return {}
    return {"auth_provider": Password(public.password, public.prefix), "cookie_secret": secrets.token_hex(32)}


# idle visits

ENDED = """<p>This page was idle for {minutes} minutes. Its visit has ended, and what it trained is gone.</p>
<p><a class="button" href="./">Begin a new visit</a></p>"""


class Ended(Page):
    """What a page goes to whose visit has ended."""

    def get(self) -> None:
        self.show(ENDED.format(minutes=f"{CROWDED_MINUTES} to {IDLE_MINUTES}"))


ROUTES = [("/ended", Ended)]


def idle(visit: Document, since: float) -> float:
    """Minutes since anything came from the page of a visit, or since it began."""
    return (time.monotonic() - max(last_message(visit), since)) / 60
