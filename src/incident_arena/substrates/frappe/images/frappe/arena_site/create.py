"""Makes an empty site in the database that the environment names. Run once, when the image is built."""

import os

import monoframe
import monoframe.installer
from monoframe.permissions import update_permission_property

from arena_site import framework
from arena_site.seed import LOAD_USER, USERS


def main() -> None:
    """Create the site's tables and settings.

    The package has no command for it (W1), and its installer takes the framework for installed already (W2): it is
    told otherwise until it says so itself.
    """
    framework.prepare()
    _pretend_nothing_is_installed()
    monoframe.installer._init_database(  # noqa: SLF001  the only way in (W1)
        db_name=os.environ["DB_NAME"],
        db_user=os.environ["DB_USER"],
        db_password=os.environ["DB_PASSWORD"],
        db_host=os.environ["DB_HOST"],
        db_port=int(os.environ["DB_PORT"]),
        db_type="mariadb",
        admin_password=os.environ["ADMIN_PASSWORD"],
        setup_db=False,
        force=True,
    )
    _settings()
    _users()
    # By default only a to-do's owner may delete it, which bulk deletion by another user needs.
    update_permission_property("ToDo", "System Manager", 0, "delete", 1)
    monoframe.db.commit()
    monoframe.destroy()


def _settings() -> None:
    """The scheduler runs only with language and time zone set, the time zone first (W9)."""
    monoframe.db.set_single_value("System Settings", "time_zone", "UTC")
    settings = monoframe.get_doc("System Settings")
    settings.update({"language": "en", "enable_scheduler": 1, "setup_complete": 1, "country": "Germany"})
    settings.save()


def _users() -> None:
    """Without passwords and tokens: an episode sets its own (seed.py)."""
    for email in (LOAD_USER, *USERS):
        user = monoframe.get_doc(
            {
                "doctype": "User",
                "email": email,
                "first_name": email.partition("@")[0],
                "send_welcome_email": 0,
                "enabled": 1,
                "roles": [{"role": "System Manager" if email == LOAD_USER else "Desk User"}],
            }
        )
        user.flags.no_welcome_mail = True
        user.insert(ignore_permissions=True)
    monoframe.db.set_value("User", LOAD_USER, "api_key", "load")


def _pretend_nothing_is_installed() -> None:
    installed, hooks, add, post = (
        monoframe.get_installed_apps,
        monoframe.get_hooks,
        monoframe.installer.add_to_installed_apps,
        monoframe.installer.add_module_defs,
    )

    def no_hooks(hook: str | None = None, default: object = "_KEEP_DEFAULT_LIST", *_: object, **__: object) -> object:
        if hook is None:
            return monoframe._dict(hooks())  # noqa: SLF001  the framework's own dictionary
        return [] if default == "_KEEP_DEFAULT_LIST" else default

    def added(*args: object, **options: object) -> object:
        monoframe.get_installed_apps, monoframe.get_hooks = installed, hooks
        monoframe.installer.add_module_defs = post
        return add(*args, **options)

    monoframe.get_installed_apps = lambda *_, **__: []
    monoframe.get_hooks = no_hooks
    monoframe.installer.add_module_defs = lambda *_, **__: None
    monoframe.installer.add_to_installed_apps = added


if __name__ == "__main__":
    main()
