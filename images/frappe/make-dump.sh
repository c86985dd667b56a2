#!/bin/sh
# Makes the dump of an empty site with a temporary MariaDB and Redis from the images that episodes run.
# Both are started through their own loader: a build step may not mount what a chroot would need.
set -eu
output=$1
work=$(mktemp -d)
loader() {
    root=$1
    shift
    program=$1
    shift
    libraries="$root/lib/$(uname -m)-linux-gnu:$root/usr/lib/$(uname -m)-linux-gnu"
    exec "$(find "$root"/lib*/ -maxdepth 1 -name 'ld-linux-*' | head -n 1)" --library-path "$libraries" "$root$program" "$@"
}

(loader /redis /usr/bin/redis-server --bind 127.0.0.1 --port 6399 --save '' --dir "$work") >"$work/redis.log" 2>&1 &
redis=$!
mkdir "$work/data"
(loader /mariadb /usr/sbin/mariadbd --no-defaults --user=root --skip-grant-tables --skip-networking=0 \
    --bind-address=127.0.0.1 --port=3399 --socket="$work/socket" --datadir="$work/data" --plugin-dir=/mariadb/usr/lib/mysql/plugin \
    --lc-messages-dir=/mariadb/usr/share/mysql --character-sets-dir=/mariadb/usr/share/mysql/charsets \
    --character-set-server=utf8mb4 --collation-server=utf8mb4_unicode_ci --innodb-flush-log-at-trx-commit=0 \
    --pid-file="$work/pid") >"$work/mariadb.log" 2>&1 &
mariadb=$!
trap 'kill $redis $mariadb; tail -n 20 $work/*.log >&2' EXIT
client() { (loader /mariadb /usr/bin/mariadb --no-defaults --socket="$work/socket" "$@"); }

tries=0
until client --execute='CREATE DATABASE IF NOT EXISTS site' 2>/dev/null; do
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
(loader /mariadb /usr/bin/mariadb-dump --no-defaults --socket="$work/socket" --single-transaction --skip-comments site) | gzip -9n >"$output"

trap - EXIT
kill $redis $mariadb
wait
test "$(gzip -cd "$output" | grep -c '^CREATE TABLE')" -gt 200
