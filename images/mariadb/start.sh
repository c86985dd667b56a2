#!/bin/sh
# First start: make an empty data folder and take the intended option file onto the volume. From then on the volume's
# files hold, so that what was changed live and not saved is lost at a restart, as in life.
set -eu
for file in /initial/*.cnf; do
    target="/config/$(basename "$file")"
    if [ ! -e "$target" ]; then
        cp "$file" "$target.first"
        mv "$target.first" "$target"
    fi
done
if [ ! -d /data/mysql ]; then
    rm -rf /data/new
    # Accounts that log in through the socket: root, and the server's own system user, for the probes.
    mariadb-install-db --no-defaults --datadir=/data/new --skip-test-db --auth-root-authentication-method=socket \
        --user=mysql --extra-file=/initial/first.sql >/dev/null
    mv /data/new/* /data/
    rmdir /data/new
fi
exec mariadbd "$@"
