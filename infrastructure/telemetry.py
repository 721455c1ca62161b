"""What nodes did, for those who run this for others: one log record and, where asked for, one OpenTelemetry span each.

Both carry names, numbers and ids, never a word of a prompt or a story. Spans are off unless RECURRENTGPT_TELEMETRY is 1 (extra
`telemetry`); where they go, OpenTelemetry's own variables say, OTEL_EXPORTER_OTLP_ENDPOINT above all. LangSmith's tracing
is LangChain's own, and carries texts: LANGSMITH_TRACING turns it on.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from recurrentgpt.schema.errors import MissingExtra
from recurrentgpt.schema.state import Usage

logger = logging.getLogger("recurrentgpt.nodes")

VARIABLE = "RECURRENTGPT_TELEMETRY"
Count = Callable[[Usage], None]
_count: ContextVar[Count | None] = ContextVar("count", default=None)

FIGURES = ("calls", "input_tokens", "cached_tokens", "output_tokens", "resamples")


@contextmanager
def counting(told: Count) -> Iterator[None]:
    """Tell `told` what each node has cost, also one that fails, in this context and what it starts; from any thread."""
    token = _count.set(told)
    try:
        yield
    finally:
        _count.reset(token)


def count(usage: Usage) -> None:
    """Tell whoever counts in this context of a cost that no node had here: of a passage that was there already."""
    if (told := _count.get()) is not None:
        told(usage)


@contextmanager
def observed(node: str, story: str, step: int, usage: Callable[[], Usage]) -> Iterator[None]:
    """Time what happens within, and report it at its end with the figures that `usage` returns by then."""
    about: dict[str, Any] = {"node": node, "story": story, "step": step}
    began, span = time.perf_counter(), _span(node)
    try:
        yield
    except Exception as error:
        about["error"] = type(error).__name__
        raise
    finally:
        used = usage()
        count(used)
        spent: Mapping[str, Any] = used
        about |= {"seconds": round(time.perf_counter() - began, 4), **{name: spent[name] for name in FIGURES}}
        logger.info("%s", node, extra={"about": about})
        if span is not None:
            span.set_attributes({f"recurrentgpt.{name}": value for name, value in about.items()})
            span.end()


def _span(node: str) -> Any:
    return _tracer().start_span(f"recurrentgpt.{node}") if _is_on() else None


def _is_on() -> bool:
    return os.environ.get(VARIABLE, "").strip().casefold() not in ("", "0", "false", "no", "off")


@cache
def _tracer() -> Any:
    """Return OpenTelemetry's tracer; a program that has set up its own provider keeps it."""
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra(
            f"{VARIABLE} is set, but OpenTelemetry is not installed; install it with: pip install 'recurrentgpt[telemetry]'"
        ) from error
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
    return trace.get_tracer("recurrentgpt")
