"""Where the page is served, before there is a server: whoever calls early waits for it."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser


def listen(host: str, port: int) -> socket.socket:
    """A socket on which the page will be served; port 0 takes any that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        opened = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise ValueError(f"cannot listen on {host}: {error.strerror}; --host is an address of this machine") from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen()
    except (OSError, OverflowError) as error:
        opened.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"cannot listen on {host} port {port}: {reason}; --port 0 chooses a free one") from None
    return opened


def address(opened: socket.socket, host: str) -> str:
    """What to type into a browser on this machine."""
    everywhere = host in ("", "0.0.0.0", "::")
    name = "127.0.0.1" if everywhere else f"[{host}]" if ":" in host else host
    return f"http://{name}:{opened.getsockname()[1]}/"


def show_in_browser(url: str) -> None:
    """Open a window where there are windows; a text browser would take the terminal."""
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
