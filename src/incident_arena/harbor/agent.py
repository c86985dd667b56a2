"""An agent that runs any given script, by the same upload and exec as Harbor's oracle runs the solution."""

from pathlib import Path
from typing import Any, override

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.trial.paths import EnvironmentPaths
from harbor.utils.scripts import build_execution_command, quote_shell_arg

from incident_arena.catalogue.scripts import LIBRARY
from incident_arena.errors import UserError

LOG = "script.txt"


class ScriptAgent(BaseAgent):
    """Runs one script in the agent's pod, with the library that the task's own scripts source beside it.

    Args:
        logs_dir: Harbor's folder for the agent's logs.
        script: path of the script on this machine (`--agent-kwarg script=PATH`).
        kwargs: the rest of what Harbor hands to every agent.
    """

    def __init__(self, logs_dir: Path, script: str | Path = "", **kwargs: Any) -> None:
        """See the class."""
        super().__init__(logs_dir=logs_dir, **kwargs)
        self._script = Path(script).expanduser().resolve()

    @staticmethod
    @override
    def name() -> str:
        return "script"

    @override
    def version(self) -> str:
        return "1.0.0"

    @classmethod
    @override
    def preflight(cls, kwargs: dict[str, Any] | None = None, env: Any = None) -> None:
        """Refuse before anything starts when there is no such script.

        Raises:
            ValueError: as Harbor expects it.
        """
        super().preflight(kwargs, env)
        script = (kwargs or {}).get("script")
        if not script or not Path(script).expanduser().is_file():
            raise ValueError(str(no_script(script)))

    @override
    async def setup(self, environment: BaseEnvironment) -> None:
        if not self._script.is_file():
            raise no_script(self._script)

    @override
    async def set_web_tools_disabled(self, disabled: bool, environment: BaseEnvironment) -> None:
        """A script has no web tools."""

    @override
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        paths = EnvironmentPaths.for_os(environment.os)
        target, log = str(paths.solution_dir / self._script.name), str(paths.agent_dir / LOG)
        await environment.upload_file(self._script, target)
        library = environment.environment_dir.parent / "solution" / LIBRARY
        if library.is_file():
            await environment.upload_file(library, str(paths.solution_dir / LIBRARY))
        await environment.exec(f"chmod +x {quote_shell_arg(target, environment.os)}", user="root")
        ended = await environment.exec(build_execution_command(target, stdout_path=log, task_os=environment.os))
        if ended.return_code != 0:
            (self.logs_dir / "exit-code.txt").write_text(str(ended.return_code))


def no_script(script: object) -> UserError:
    """The error for a script that is not there."""
    return UserError(f"script {str(script)!r}", "there is no such file", "give it as --script FILE (script=FILE)")
