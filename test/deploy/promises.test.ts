import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./build-root.ts";

const folder = join(root, "deploy");
const read = (name: string) => Bun.file(join(folder, name)).text();
// biome-ignore lint/suspicious/noExplicitAny: manifests are read as loosely as they are written
type Manifest = any;

/**
 * What Helm would fill in is `x`, and what it would decide is there: the parts that always hold.
 */
async function plain(name: string): Promise<readonly Manifest[]> {
  const text = (await read(`chart/manyhands/${name}`))
    .replaceAll(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g, "")
    // Of several templates in a file the first.
    .split(/^\{\{- end -\}\}$/m, 1)
    .join("")
    .replaceAll(/^\s*\{\{.*\}\}\s*$/gm, "")
    .replaceAll(/\{\{.*?\}\}/g, "x");
  return text.split(/^---$/m).map((one) => Bun.YAML.parse(one) as Manifest);
}

test("the chart gives a pod no privilege, room for what it writes, and time to drain, whatever its values", async () => {
  const [pod] = await plain("templates/_pod.tpl");
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 45,
    securityContext: { runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001 },
  });
  const [container] = pod.containers;
  expect(container.securityContext).toMatchObject({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const paths = ["startupProbe", "livenessProbe", "readinessProbe"].map((probe) => container[probe].httpGet.path);
  expect(paths).toEqual(["/healthz", "/healthz", "/readyz"]);
  expect(container.lifecycle.preStop.exec.command).toEqual(["sleep", "5"]);
  expect(container.volumeMounts).toEqual([
    { name: "state", mountPath: "/var/lib/manyhands" },
    { name: "temporary", mountPath: "/tmp" },
    { name: "shared-memory", mountPath: "/dev/shm" },
    { name: "settings", mountPath: "/etc/manyhands", readOnly: true },
  ]);
  const temporary = pod.volumes.filter(({ name }: Manifest) => name !== "state" && name !== "settings");
  expect(temporary.map(({ emptyDir }: Manifest) => typeof emptyDir.sizeLimit)).toEqual(["string", "string"]);
});

test("of a cluster's servers one more comes before one goes, and never two are taken at once", async () => {
  const manifests = await plain("templates/cluster.yaml");
  const of = (kind: string) => manifests.find((one) => one?.kind === kind);
  expect(of("Deployment").spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  expect(of("PodDisruptionBudget").spec).toMatchObject({
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: "AlwaysAllow",
  });
  expect(of("HorizontalPodAutoscaler").spec.behavior.scaleDown).toEqual({
    stabilizationWindowSeconds: 600,
    policies: [{ type: "Pods", value: 1, periodSeconds: 60 }],
  });
  const [set] = await plain("templates/stateful-set.yaml");
  expect(set.spec.replicas).toBe(1);
  expect(set.spec.volumeClaimTemplates[0].spec.accessModes).toEqual(["ReadWriteOnce"]);
});

test("the chart's own values keep agents off private networks and callers at the gateway", async () => {
  const values = Bun.YAML.parse(await read("chart/manyhands/values.yaml")) as Manifest;
  expect(values.networkPolicy).toEqual({
    enabled: true,
    from: [],
    except: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"],
    egress: [],
  });
  expect(values.sandbox).toMatchObject({
    seccompProfile: { type: "RuntimeDefault" },
    hostUsers: true,
    procMount: "Default",
  });
  expect(values).toMatchObject({
    service: { type: "ClusterIP", port: 4100 },
    ingress: { enabled: false },
    monitoring: { enabled: false },
    cluster: { engine: "", replicas: 2 },
  });
  const [policy] = await plain("templates/network-policy.yaml");
  expect(policy.spec.policyTypes).toEqual(["Ingress", "Egress"]);
  const own = { podSelector: { matchLabels: "x" } };
  expect(policy.spec.ingress).toEqual([
    { ports: [{ protocol: "TCP", port: "http" }], from: [{ namespaceSelector: {} }] },
    { from: [own] },
    { ports: [{ protocol: "TCP", port: "restate" }], from: "x" },
    { ports: ["http", "x"].map((port) => ({ protocol: "TCP", port })), from: "x" },
  ]);
  expect(policy.spec.egress).toEqual([
    { ports: ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 })) },
    { to: [own] },
    { to: [{ ipBlock: { cidr: "0.0.0.0/0", except: "x" } }] },
  ]);
});

test("the unit leaves a service no privilege, its files to nobody else, and time to drain", async () => {
  const set = (await read("manyhands.service")).split("\n").filter((line) => /^[A-Z]\w*=/.test(line));
  const needed = [
    ...["User=manyhands", "Group=manyhands", "UMask=0077", "StateDirectoryMode=0700"],
    ...["EnvironmentFile=/etc/manyhands/manyhands.env", "CapabilityBoundingSet=", "PrivateTmp=yes"],
    ...["ProtectHome=yes", "ProtectClock=yes", "ProtectKernelModules=yes", "LockPersonality=yes"],
    ...["RestrictSUIDSGID=yes", "RestrictRealtime=yes", "SystemCallArchitectures=native"],
    ...["RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK"],
    ...["Restart=always", "KillMode=mixed", "TimeoutStopSec=30", "Delegate=yes"],
  ];
  expect(needed.filter((line) => !set.includes(line))).toEqual([]);
});

test("every service that works on tasks keeps its state in a volume, is bounded, has time to drain and comes back", async () => {
  for (const [file, names] of [
    ["compose.yaml", ["manyhands"]],
    ["compose.cluster.yaml", ["gateway", "manus", "browser", "swe", "data-analysis"]],
  ] as const) {
    const { services } = Bun.YAML.parse(await read(file)) as Manifest;
    for (const name of names)
      expect([name, services[name]]).toMatchObject([
        name,
        {
          env_file: "manyhands.env",
          volumes: ["state:/var/lib/manyhands"],
          tmpfs: ["/tmp:mode=1777,size=1g"],
          ...{ pids_limit: 4096, stop_grace_period: "30s", restart: "unless-stopped" },
          mem_limit: expect.stringContaining("4g"),
        },
      ]);
  }
  const { services } = Bun.YAML.parse(await read("compose.cluster.yaml")) as Manifest;
  // Nothing but the servers gets the models' and the callers' keys.
  for (const name of ["balancer", "restate", "postgres", "s3", "bucket"])
    expect([name, services[name].env_file]).toEqual([name, undefined]);
  expect(services.restate.environment).toMatchObject({
    RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: "/run/restate.pem",
    RESTATE_DISABLE_TELEMETRY: "true",
  });
  expect(services.restate.volumes).toContain("./restate.pem:/run/restate.pem:ro");
});

test("the balancers let streams be silent for long, and leave out who does not answer", async () => {
  const lines = (await read("haproxy.cfg")).split("\n").map((line) => line.trim());
  const needed = [
    ...["timeout client 24h", "timeout server 24h", "option redispatch"],
    "http-check send meth GET uri /healthz ver HTTP/1.1 hdr Host localhost",
    "http-check expect status 200",
    "default-server inter 500ms fall 4 rise 1 on-marked-down shutdown-sessions init-addr none resolvers docker",
  ];
  expect(needed.filter((line) => !lines.includes(line))).toEqual([]);
  const proxy = await read("Caddyfile");
  expect(proxy).toMatch(/reverse_proxy manyhands:4100 \{\s*flush_interval -1\s*\}/);
  expect(proxy).toContain("max_size 10MB");
});

/** The image's command, where a program that says what it was given stands for Bun. */
let image: string;
beforeAll(async () => {
  image = await mkdtemp(join(tmpdir(), "manyhands-image-"));
  for (const path of ["gateway/src/server", "agents/swe/src", "agents/manus/src", "bin"])
    await mkdir(join(image, path), { recursive: true });
  for (const path of ["gateway/src/server/main.ts", "agents/swe/src/server.ts", "agents/manus/src/server.ts"])
    await writeFile(join(image, path), "");
  await writeFile(join(image, "bin/bun"), '#!/bin/sh\nprintf "<%s>" "$@"\n');
  await chmod(join(image, "bin/bun"), 0o755);
  const script = (await read("manyhands.sh")).replace(/^root=.*$/m, `root=${image}`);
  await writeFile(join(image, "bin/manyhands"), script);
  await chmod(join(image, "bin/manyhands"), 0o755);
});
afterAll(() => rm(image, { recursive: true }));

test.each([
  [["serve", "gateway", "--config", "a b"], "<ROOT/gateway/src/server/main.ts><--config><a b>"],
  [["serve", "swe"], "<ROOT/agents/swe/src/server.ts>"],
  [["start"], "<ROOT/gateway/src/cli/main.ts><start>"],
  [["serve"], "<ROOT/gateway/src/cli/main.ts><serve>"],
  [["run", "a task"], "<ROOT/gateway/src/cli/main.ts><run><a task>"],
  [[], "<ROOT/gateway/src/cli/main.ts>"],
])("the image's command with %j starts %s", (argv, started) => {
  const { stdout, exitCode } = Bun.spawnSync([join(image, "bin/manyhands"), ...argv], {
    env: { PATH: `${join(image, "bin")}:/usr/bin:/bin` },
  });
  expect([stdout.toString(), exitCode]).toEqual([started.replace("ROOT", image), 0]);
});

test("the image's command names the servers there are where one is asked for that is not", () => {
  const { stdout, stderr, exitCode } = Bun.spawnSync([join(image, "bin/manyhands"), "serve", "nobody"], {
    env: { PATH: `${join(image, "bin")}:/usr/bin:/bin` },
  });
  expect([stdout.toString(), exitCode]).toEqual(["", 2]);
  expect(stderr.toString()).toBe("There is no server nobody. There are: gateway manus swe\n");
});
