{{- /* Run as `referee`, which has every privilege; running it again changes nothing. */ -}}
{{- $account := "application.account" -}}
CREATE DATABASE IF NOT EXISTS site CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- The tools. `admin` sets globals; it reads no data and gives no privileges.
CREATE USER IF NOT EXISTS 'admin'@'%' IDENTIFIED BY '{{ include $account (list . "admin") }}';
GRANT SUPER, PROCESS, CONNECTION ADMIN, READ_ONLY ADMIN, BINLOG ADMIN ON *.* TO 'admin'@'%';
CREATE USER IF NOT EXISTS 'exporter'@'%' IDENTIFIED BY '{{ include $account (list . "exporter") }}';
GRANT PROCESS, BINLOG MONITOR, SLAVE MONITOR ON *.* TO 'exporter'@'%';

-- The operator reads everything, and may pass on every privilege on the application's database. It may not end the
-- sessions of others: those of the referee and of the load are among them.
CREATE USER IF NOT EXISTS 'operator'@'%' IDENTIFIED BY '{{ include $account (list . "operator") }}';
GRANT SELECT, SHOW DATABASES, PROCESS ON *.* TO 'operator'@'%';
GRANT ALL PRIVILEGES ON site.* TO 'operator'@'%' WITH GRANT OPTION;

-- The application, last: setup-site starts when it can log in.
CREATE USER IF NOT EXISTS 'site'@'%' IDENTIFIED BY '{{ include $account (list . "site") }}'
    WITH MAX_USER_CONNECTIONS {{ .Values.mariadb.siteMaxUserConnections }};
GRANT {{ .Values.mariadb.sitePrivileges | join ", " }} ON site.* TO 'site'@'%';
