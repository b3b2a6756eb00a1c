"""Questions out, answers in, until everybody answered or the deadline has passed. A link that is down meanwhile is tried again.

Each answer is pulled alone. Flower can pull many at once, but then an answer that cannot be read raises for all of them, and one whose
upload never ends holds up the others: pulled alone, either costs its sender its say and nobody else anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from logging import WARNING
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import httpx
from flwr.app import Error, Message
from flwr.supercore import log

# Seconds. After `PATIENCE` with one pull, the next ones are made beside it.
PATIENCE = 2.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 1.0

# The link, not a node: it may be back before the deadline.
LINK_IS_DOWN = (httpx.HTTPError, OSError)

Answer = TypeVar("Answer")


def answer(call: Callable[[], Answer], end: float) -> Answer | None:
    """What the SuperLink answers to a call, made again while the link is down; none if it still is at the end."""
    for _ in _tries(end):
        try:
            return call()
        except LINK_IS_DOWN as problem:
            log(WARNING, "could not reach the SuperLink: %s", problem)
    return None


def _tries(end: float) -> Iterator[None]:
    """Once, and then again and again until the end, with longer and longer pauses."""
    pause = SHORTEST_PAUSE
    while True:
        yield
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(pause, left))
        pause = min(1.5 * pause, LONGEST_PAUSE)


def collect(grid: Any, questions: Iterable[Message], deadline: float) -> list[Message]:
    """At most one reply per question, from the node that was asked; a reply of no use is an error reply."""
    end = time.monotonic() + deadline
    questions = list(questions)
    pushed = set(answer(lambda: grid.push_messages(questions), end) or ()) if questions else set()
    waiting = {question.metadata.message_id: question for question in questions if question.metadata.message_id in pushed}
    pulling: set[str] = set()
    pulled: SimpleQueue = SimpleQueue()
    replies: list[Message] = []
    for _ in _tries(end):
        for message_id in [one for one in waiting if one not in pulling]:
            pulling.add(message_id)
            # A daemon: a pull that never ends must not keep the process.
            thread = Thread(target=_pull, args=(grid, message_id, pulled), daemon=True)
            thread.start()
            thread.join(max(0.0, min(PATIENCE, end - time.monotonic())))
        for message_id, outcome in _drained(pulled):
            pulling.discard(message_id)
            reply = _reply_in(outcome, waiting[message_id])
            if reply is not None:
                replies.append(reply)
                del waiting[message_id]
        if not waiting:
            break
    return replies


def _pull(grid: Any, message_id: str, pulled: SimpleQueue) -> None:
    try:
        pulled.put((message_id, list(grid.pull_messages([message_id]))))
    except Exception as problem:
        pulled.put((message_id, problem))


def _drained(pulled: SimpleQueue) -> list[tuple[str, list[Message] | Exception]]:
    taken = []
    while True:
        try:
            taken.append(pulled.get_nowait())
        except Empty:
            return taken


def _reply_in(outcome: list[Message] | Exception, question: Message) -> Message | None:
    """The first message pulled, if it is the answer of the node that was asked; none if there is nothing yet."""
    node = question.metadata.dst_node_id
    if isinstance(outcome, LINK_IS_DOWN):
        log(WARNING, "could not ask the SuperLink for the reply of node %s: %s", node, outcome)
        return None
    if isinstance(outcome, Exception):
        return _error(question, f"its reply could not be read ({type(outcome).__name__}: {outcome})")
    if not outcome:
        return None
    reply = outcome[0]
    if reply.has_error():
        # Flower writes some of these itself, in its own name.
        return _error(question, reply.error.reason or f"error {reply.error.code}")
    if reply.metadata.src_node_id != node:
        return _error(question, "its reply is in the name of another node")
    return reply


def _error(question: Message, reason: str) -> Message:
    return Message(Error(code=0, reason=reason), reply_to=question)
