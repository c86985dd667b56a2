#!/bin/sh
# First start: take the intended configuration onto the volume. From then on the volume's files hold, so that what was
# changed live and not saved is lost at a restart, as in life.
set -eu
cd /data
for file in redis.conf users.acl; do
    if [ ! -e "$file" ]; then
        cp "/initial/$file" "$file.first"
        mv "$file.first" "$file"
    fi
done
exec redis-server /data/redis.conf
