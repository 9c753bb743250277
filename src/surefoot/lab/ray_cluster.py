"""Pieces of work done by a Ray cluster: one that is started on this machine, or one that is joined.

A cluster started here listens on the loopback interface alone, asks for a token, which others on this machine do not
know, reports to nobody, and is gone with this process. This is the only module that knows Ray.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

from surefoot.engine.devices import THREADS_VARIABLE
from surefoot.errors import SurefootError
from surefoot.lab.pieces import Outcome, Piece, Report, fingerprint, using_workers

T = TypeVar("T")

LOCAL, AUTO = "local", "auto"  # in place of an address: one started on this machine, one that runs on it
RETRIES = 10  # how often a piece is done again whose worker was lost
_STORE = 256 * 1024 * 1024  # [bytes] for results on their way; what does not fit goes to disk
_PATIENCE = 10.0  # [s] for an answer of the machine that is joined
_LOOK = 0.5  # [s] how often the progress is told
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_NUM_REDIS_GET_RETRIES": "3"}  # no telemetry, few tries to join
_TOKEN = secrets.token_hex(16)  # one for a process, since Ray reads it once
_ALONE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray's switch for nodes that only their own machine reaches
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": _TOKEN,
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # after which this process ends too if the head was killed
}


class RayWorkers:
    """The workers of a cluster that this process is connected to.

    Attributes:
        dashboard: address of its page, empty without `ray[default]`.
        token: what the page of a cluster started here asks for.
    """

    apart = True

    def __init__(self, ray: ModuleType, dashboard: str = "", token: str = "", is_ours: bool = False) -> None:
        """Wrap a connection; a cluster that is ours ends with this process."""
        self._ray, self.dashboard, self.token, self._is_ours = ray, dashboard, token, is_ours
        self._remote: Any = ray.remote(_do_there)

    def nodes(self) -> list[int]:
        """Cores of every machine that is there now and lends some."""
        alive = [node for node in self._ray.nodes() if node["Alive"]]
        return [int(node["Resources"]["CPU"]) for node in alive if node["Resources"].get("CPU", 0.0) >= 1.0]

    def work(self, pieces: Sequence[Piece[T]], report: Report) -> Generator[Outcome[T], None, None]:
        """Do all pieces; those whose worker or machine is lost are done again."""
        nodes = self.nodes()
        cores = cores_each(nodes, len(pieces))
        remote, code = self._remote.options(num_cpus=cores, max_retries=RETRIES), fingerprint()
        places = {remote.remote(piece, code, cores): i for i, piece in enumerate(pieces)}
        waiting = list(places)
        try:
            while waiting:
                done = len(pieces) - len(waiting)
                report(f"{done} of {len(pieces)} pieces done by {_counted(len(nodes), 'machine')}", done / len(pieces))
                ready, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK)
                for reference in ready:
                    yield self._outcome(places.pop(reference), pieces, reference)
                nodes = self.nodes()
        finally:
            if not self._is_ours:  # what was started here ends as a whole; a cancelled piece that ends now crashes Ray
                for reference in waiting:
                    self._ray.cancel(reference, force=True)

    def _outcome(self, place: int, pieces: Sequence[Piece[T]], reference: Any) -> Outcome[T]:
        """What became of a piece that is done."""
        errors = self._ray.exceptions
        try:
            return Outcome(place, self._ray.get(reference))
        except errors.RayTaskError as error:
            return Outcome(place, error=error.cause if isinstance(error.cause, Exception) else error)
        except errors.LocalRayletDiedError:
            gone = "Ray's process on this machine was killed; give the command again: kept results are taken up"
            return Outcome(place, error=SurefootError(gone))
        except errors.RayError as error:
            reason = str(error).strip().splitlines()[0]
            lost = f"{pieces[place].label} was lost {RETRIES + 1} times with the worker that did it: {reason}"
            return Outcome(place, error=SurefootError(lost))


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def cores_each(nodes: Sequence[int], pieces: int) -> int:
    """The most cores that a piece can have such that all pieces are done at once, and at least one.

    Args:
        nodes: cores of every machine; no piece takes more than the smallest has, so that it can run on any.
        pieces: how many there are.
    """
    choices = range(min(nodes, default=1), 1, -1)
    return next((each for each in choices if sum(cores // each for cores in nodes) >= pieces), 1)


def _do_there(piece: Piece[T], code: str, cores: int) -> T:
    """Do a piece on a worker, with as many threads as it was given cores.

    Raises:
        SurefootError: the worker's machine has another version of Surefoot, which might find something else.
    """
    if fingerprint() != code:
        raise SurefootError("a machine of the cluster has another version of Surefoot or MuJoCo than this one")
    os.environ[THREADS_VARIABLE] = str(cores)
    return piece.do()


@contextmanager
def ray_workers(address: str = LOCAL) -> Iterator[RayWorkers]:
    """Let a Ray cluster do the pieces, inside a `with` statement.

    A program that has called `ray.init` already keeps its cluster, which is used.

    Args:
        address: HOST:PORT of the cluster's head, `AUTO` for one that runs on this machine, or `LOCAL` to start one,
            which is gone afterwards.

    Raises:
        SurefootError: Ray is not installed, or the cluster cannot be started or joined.
    """
    started = address == LOCAL
    with _environment(_QUIET | (_ALONE if started else {})):
        try:
            import ray
        except ImportError:
            raise SurefootError("Ray is not installed: pip install 'surefoot[ray]'") from None
        if not started and address != AUTO:
            _check_address(address)
        if ray.is_initialized():
            workers = RayWorkers(ray)
            with using_workers(workers):
                yield workers
            return
        folder = tempfile.mkdtemp(prefix="surefoot-ray-", dir=_short_folder()) if started else None
        try:
            workers = _connect(ray, address, folder)
            with using_workers(workers):
                yield workers
        finally:
            ray.shutdown()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def _check_address(address: str) -> None:
    """Refuse an address at which nobody listens; Ray would try for many minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise SurefootError(
            f"no Ray cluster can be joined at {address}: {error}; an address is HOST:PORT of its head, or auto"
        ) from None


def _connect(ray: ModuleType, address: str, folder: str | None) -> RayWorkers:
    quiet = {"log_to_driver": False, "logging_level": "error"}
    try:
        if folder is None:
            joined = ray.init(address=address, **quiet)
        else:
            joined = ray.init(address=LOCAL, _temp_dir=folder, object_store_memory=_STORE, **quiet)
    except (ConnectionError, OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        what = "a Ray cluster cannot be started here" if folder else f"no Ray cluster can be joined at {address}"
        hint = "" if folder else "; one that asks for a token needs RAY_AUTH_MODE=token here"
        raise SurefootError(f"{what}: {reason}{hint}") from None
    return RayWorkers(ray, joined.dashboard_url or "", _TOKEN if folder else "", is_ours=folder is not None)


def _short_folder() -> str | None:
    """Where temporary files go; names of sockets in it have to be short."""
    return "/tmp" if os.path.isdir("/tmp") else None


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
