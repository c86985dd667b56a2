#!/bin/sh
# First start: take an empty data folder and the intended option file onto the volume. From then on the volume's
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
    cp -R /opt/first /data/new
    mv /data/new/* /data/
    rmdir /data/new
fi
# init-file: sees to the one account from which setup makes the others. The others: what a query spills over has a size,
# whatever an option file says.
exec mariadbd --init-file=/initial/first.sql --tmpdir=/spill \
    --innodb-temp-data-file-path=ibtmp1:12M:autoextend:max:256M "$@"
