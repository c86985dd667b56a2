"""What is wrong with a document that somebody wrote, as phrases for a message."""

from pydantic import ValidationError


def mistakes(error: ValidationError, whole: str) -> list[str]:
    """One phrase for each thing that is wrong, with its place; `whole` stands for the place of the document itself."""
    return [f"{'.'.join(map(str, each['loc'])) or whole}: {each['msg']}" for each in error.errors(include_url=False)]
