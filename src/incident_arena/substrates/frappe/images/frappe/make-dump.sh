#!/bin/sh
# Makes the dump of an empty site with a temporary MariaDB and Redis from the images that episodes run.
set -eu
output=$1
work=$(mktemp -d)
# The servers' own root folders, inside the build: their programs want their own libraries.
PATH=$PATH:/usr/sbin
chroot /redis redis-server --bind 127.0.0.1 --port 6399 --save '' --dir /tmp >"$work/redis.log" 2>&1 &
redis=$!
mkdir -p /mariadb/tmp/data
chroot /mariadb mariadbd --no-defaults --user=root --skip-grant-tables --skip-networking=0 --bind-address=127.0.0.1 \
    --port=3399 --socket=/tmp/socket --pid-file=/tmp/pid --datadir=/tmp/data --innodb-flush-log-at-trx-commit=0 \
    --character-set-server=utf8mb4 --collation-server=utf8mb4_unicode_ci >"$work/mariadb.log" 2>&1 &
mariadb=$!
trap 'kill $redis $mariadb || true; tail -n 20 $work/*.log >&2' EXIT

tries=0
until chroot /mariadb mariadb --no-defaults --socket=/tmp/socket --execute='CREATE DATABASE IF NOT EXISTS site' 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || exit 1
    sleep 0.2
done

export DB_TYPE=mariadb DB_HOST=127.0.0.1 DB_PORT=3399 DB_NAME=site DB_USER=site DB_PASSWORD=unused ADMIN_PASSWORD=unused
export REDIS_CACHE=redis://127.0.0.1:6399/0 REDIS_QUEUE=redis://127.0.0.1:6399/1 SECRET_KEY=unused
# A Fernet key of zeros: nothing is encrypted in the dump.
ENCRYPTION_KEY=$(printf 'A%.0s' $(seq 43))=
export ENCRYPTION_KEY
python -m arena_site.create >"$work/create.log" 2>&1
# Compressed tables can't be in the shared file that the servers keep tables in.
chroot /mariadb mariadb-dump --no-defaults --socket=/tmp/socket --single-transaction --skip-comments site |
    sed 's/ ROW_FORMAT=COMPRESSED/ ROW_FORMAT=DYNAMIC/' >"$work/site.sql"
gzip -9n <"$work/site.sql" >"$output"

trap - EXIT
kill $redis $mariadb
wait
test "$(grep -c '^CREATE TABLE' "$work/site.sql")" -gt 200
