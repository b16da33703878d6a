"""A server on this machine that speaks Ollama's HTTP API, and says what a test wants."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIGESTS = {"mistral:latest": "6577803aa9a0" + "1" * 52, "llama3:8b": "365c0bd3c000" + "2" * 52}


def answer_text(category: str = "optimization", **values: object) -> str:
    evidence = [{"signal": "loss", "value": 5.5, "step": 3}]
    facts = {"category": category, "confidence": 0.8, "explanation": "Why.", "evidence": evidence}
    return json.dumps(facts | values)


@dataclass(frozen=True)
class Reply:
    """What the server does with one question; ``die`` ends the connection without an answer."""

    text: str = answer_text()
    done_reason: str = "stop"
    status: int = 200
    die: bool = False


@dataclass
class OllamaServer:
    models: dict[str, str] = field(default_factory=lambda: dict(DIGESTS))
    replies: list[Reply] = field(default_factory=list)
    otherwise: Reply = Reply()
    questions: list[dict[str, Any]] = field(default_factory=list)
    host: str = ""

    def tags(self) -> dict[str, object]:
        models = self.models.items()
        return {"models": [{"name": name, "model": name, "digest": each} for name, each in models]}

    def chat(self, body: dict[str, Any]) -> tuple[Reply, dict[str, object]]:
        self.questions.append(body)
        name = body["model"] if ":" in body["model"] else f"{body['model']}:latest"
        if name not in self.models:
            return Reply(status=404), {"error": f"model '{body['model']}' not found"}
        reply = self.replies.pop(0) if self.replies else self.otherwise
        if reply.status != 200:
            return reply, {"error": reply.text}
        return reply, {
            "model": body["model"], "created_at": "2025-01-01T00:00:00.0Z",
            "message": {"role": "assistant", "content": reply.text},
            "done_reason": reply.done_reason, "done": True, "eval_count": 298,
        }  # fmt: skip


@contextmanager
def serving(ollama: OllamaServer) -> Iterator[OllamaServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, ollama.tags() if self.path == "/api/tags" else {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply, content = ollama.chat(body)
            if reply.die:
                self.close_connection = True
            else:
                self._send(reply.status, content)

        def _send(self, status: int, content: dict[str, object]) -> None:
            encoded = json.dumps(content).encode()
            with suppress(OSError):  # a client that waited no longer
                self.send_response(status)
                self.send_header("Content-Type", "application/json; charset=utf-8")
                self.send_header("Content-Length", str(len(encoded)))
                self.end_headers()
                self.wfile.write(encoded)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    ollama.host = f"127.0.0.1:{server.server_address[1]}"
    try:
        yield ollama
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
