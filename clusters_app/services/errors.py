"""Why a service refused: a stable code for scripts, a text for people that names the object and the remedy."""


class ServiceError(Exception):
    """Refused. `field` names the input that a form or API shall mark, None when no single one is at fault."""

    def __init__(self, code: str, message: str, *, remedy: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class NotYet(ServiceError):
    """Refused for the moment: the same again in some seconds may work."""
