"""The server of the page, on this machine only unless told otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Sequence

# before NiceGUI is imported: it would keep a folder in the working directory otherwise
os.environ.setdefault("NICEGUI_STORAGE_PATH", os.path.join(os.path.expanduser("~"), ".cache", "dcrl", "nicegui"))

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from dcrl.explorer.guard import Guard
from dcrl.explorer.opened import Opened
from dcrl.explorer.page import View
from dcrl.explorer.playing import play_once

FOLLOW_SECONDS = 2.0  # how often the runs' files are looked at
WARM_SECONDS = 3.0  # until the simulator is loaded: the page comes first
GOODBYE_SECONDS = 1  # for open connections, when the server is stopped


def serve(runs: Sequence[Opened], opened: socket.socket, host: str, command: str) -> None:
    """Serve the page until the process is stopped; `command` starts it again."""
    warming = threading.Timer(WARM_SECONDS, _warm, args=(runs[0],))
    warming.daemon = True

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        following = asyncio.create_task(_follow(runs))
        warming.start()
        yield
        warming.cancel()
        following.cancel()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    ui.page("/")(lambda: View(runs, command).build())
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
    try:
        uvicorn.Server(config).run(sockets=[opened])
    finally:
        if warming.is_alive():  # in JAX's C++ code: Python would abort it, and the process with it
            sys.stdout.flush()
            os._exit(0)


async def _follow(runs: Sequence[Opened]) -> None:
    while True:
        await asyncio.sleep(FOLLOW_SECONDS)
        for run in runs:
            await asyncio.to_thread(run.refresh)


def _warm(run: Opened) -> None:
    """Play an elite once, so that what is compiled at the first episode is ready at the first click."""
    run.verify()
    with contextlib.suppress(ValueError):  # reported when a cell is clicked
        play_once(run.content.whole())
