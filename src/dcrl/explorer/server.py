"""The server of the page, on this machine only unless told otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence

# before NiceGUI is imported: it would keep a folder in the working directory otherwise
os.environ.setdefault("NICEGUI_STORAGE_PATH", os.path.join(os.path.expanduser("~"), ".cache", "dcrl", "nicegui"))

import numpy as np
import uvicorn
from fastapi import FastAPI
from nicegui import ui

from dcrl.explorer import behaviour
from dcrl.explorer.guard import Guard
from dcrl.explorer.opened import Opened
from dcrl.explorer.page import View

FOLLOW_SECONDS = 2.0  # how often the runs' files are looked at
WARM_SECONDS = 3.0  # until the simulator is loaded: the page comes first
GOODBYE_SECONDS = 1  # for open connections, when the server is stopped


def listen(host: str, port: int) -> socket.socket:
    """A socket on which the page will be served; port 0 takes any that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        opened = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise ValueError(f"cannot listen at {host}: {error.strerror}; --host is an address of this machine") from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
    except (OSError, OverflowError) as error:
        opened.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(
            f"cannot listen at {host} port {port}: {reason}; --port 0 takes a free port, --port N another one"
        ) from None
    return opened


def address(opened: socket.socket, host: str) -> str:
    """What to type into a browser on this machine."""
    everywhere = host in ("", "0.0.0.0", "::")
    name = "127.0.0.1" if everywhere else f"[{host}]" if ":" in host else host
    return f"http://{name}:{opened.getsockname()[1]}/"


def serve(runs: Sequence[Opened], opened: socket.socket, host: str, ready: Callable[[], None]) -> None:
    """Serve the page until the process is told to stop; `ready` is called when it can be opened."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        following = asyncio.create_task(_follow(runs))
        warming = threading.Timer(WARM_SECONDS, _warm, args=(runs[0],))
        warming.daemon = True
        warming.start()
        opened.listen()  # whoever is told the address may call at once
        ready()
        yield
        warming.cancel()
        following.cancel()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    ui.page("/")(lambda: View(runs).build())
    ui.run_with(
        app,
        title="dcrl explore",
        show_welcome_message=False,
        reconnect_timeout=10,
        tailwind=False,
        gzip_middleware_factory=None,
    )
    config = uvicorn.Config(
        Guard(app, host),
        log_level=logging.WARNING,
        ws_max_size=1 << 20,  # what a browser has to say is short
        timeout_graceful_shutdown=GOODBYE_SECONDS,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[opened])


def show_in_browser(url: str) -> None:
    """Open a window where there are windows; a text browser would take the terminal."""
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


async def _follow(runs: Sequence[Opened]) -> None:
    while True:
        await asyncio.sleep(FOLLOW_SECONDS)
        for run in runs:
            await asyncio.to_thread(run.refresh)


def _warm(run: Opened) -> None:
    """Play an elite once, so that what is compiled at the first episode is ready at the first click."""
    found = run.content.repertoire
    with contextlib.suppress(ValueError):  # whoever clicks is told
        behaviour.play(found, behaviour.elite(found, int(np.argmax(found.occupied))), 0)
