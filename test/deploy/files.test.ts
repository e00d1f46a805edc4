import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ourInstructions, root } from "./build-root.ts";
import { ignoring } from "./dockerfile.ts";

const folder = join(root, "deploy");
const read = (name: string) => Bun.file(join(folder, name)).text();
const instructions = await ourInstructions();
const all = (name: string) => instructions.filter((one) => one.name === name).map(({ text }) => text);

test("the image's bases are pinned by tag, and its Bun is the workspace's", async () => {
  const { packageManager } = await Bun.file(join(root, "package.json")).json();
  expect(all("FROM")).toEqual([
    `oven/bun:${packageManager.replace("bun@", "")}-slim AS bun`,
    expect.stringMatching(/^debian:\w+-slim$/),
  ]);
});

test("everything the Dockerfile copies is in the checkout and sent to the builder", async () => {
  const isIgnored = ignoring(await read("Dockerfile.dockerignore"));
  const sources = instructions
    .filter(({ name, flags }) => name === "COPY" && flags.from === undefined)
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1));
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.filter((path) => isIgnored(path) || !existsSync(join(root, path)))).toEqual([]);
  for (const path of ["test/e2e/count.test.ts", "shared/node_modules/zod", "shared/src/core/errors.test.ts", ".git"])
    expect([path, isIgnored(path)]).toEqual([path, true]);
});

test("the manifests of all packages of the workspace are in the image, as the lock file needs them", async () => {
  const { workspaces } = await Bun.file(join(root, "package.json")).json();
  const manifests = (workspaces.packages as string[]).flatMap((pattern) => [
    ...new Bun.Glob(`${pattern}/package.json`).scanSync({ cwd: root }),
  ]);
  expect(manifests.length).toBeGreaterThan(5);
  for (const path of manifests) expect(all("COPY")).toContain(`${path} ${path}`);
});

test("the image installs what set-up does, by set-up's own list", async () => {
  expect(all("RUN").join("\n")).toContain("$(bun /tmp/setup/list-packages.ts apt-get)");
  const script = join(root, "gateway/src/setup/list-packages.ts");
  const listed = await Bun.$`${process.execPath} ${script} apt-get`.text();
  expect(listed.trim().split(" ")).toEqual(
    expect.arrayContaining(["bubblewrap", "chromium-headless-shell", "python3"]),
  );
});

test("the image runs as a user of its own, under an init, and watches its health", () => {
  expect(all("USER")).toEqual(["10001:10001"]);
  expect(all("VOLUME")).toEqual(["/var/lib/manyhands"]);
  expect(all("ENTRYPOINT")).toEqual(['["tini", "--", "manyhands"]']);
  expect(all("HEALTHCHECK").join()).toContain("/healthz");
});

test("the compose file gives the container no privilege and the proxy one", async () => {
  // biome-ignore lint/suspicious/noExplicitAny: read as loosely as it is written
  const { services } = Bun.YAML.parse(await read("compose.yaml")) as any;
  for (const one of Object.values<Record<string, unknown>>(services)) {
    expect(one).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    expect(one.privileged).toBeUndefined();
  }
  expect(services.manyhands.cap_add).toBeUndefined();
  expect(services.proxy).toMatchObject({ profiles: ["tls"], cap_add: ["NET_BIND_SERVICE"] });
  expect(services.manyhands.healthcheck.test.join(" ")).toContain("/readyz");
  expect(services.proxy.depends_on.manyhands.condition).toBe("service_healthy");
  expect(services.manyhands.ports).toEqual(["127.0.0.1:4100:4100"]);
});

const analyze = Bun.which("systemd-analyze");
if (analyze === null) console.warn("The systemd unit is not checked: systemd-analyze is missing.");

test.skipIf(analyze === null)("systemd finds no fault in the unit", async () => {
  const made = await mkdtemp(join(tmpdir(), "manyhands-unit-"));
  try {
    // The programs and users that the unit names are not on this machine.
    const unit = (await read("manyhands.service")).replace(/^(ExecStart\w*=-?)\/usr\/local\/bin\/bun/gm, "$1/bin/true");
    await Bun.write(join(made, "manyhands.service"), unit);
    const child = Bun.spawn(["systemd-analyze", "verify", "--man=no", join(made, "manyhands.service")], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const said = (await child.stderr.text()) + (await child.stdout.text());
    expect(said.split("\n").filter((line) => line.includes("manyhands.service"))).toEqual([]);
    expect(await child.exited).toBe(0);
  } finally {
    await rm(made, { recursive: true });
  }
});

test("the unit leaves out what would keep commands from being confined", async () => {
  const unit = await read("manyhands.service");
  const set = unit.split("\n").filter((line) => /^[A-Z]\w*=/.test(line));
  expect(set).toEqual(
    expect.arrayContaining(["NoNewPrivileges=yes", "ProtectSystem=strict", "StateDirectory=manyhands"]),
  );
  const harmful =
    /^(?:RestrictNamespaces|ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProcSubset|ProtectHostname|MemoryDenyWriteExecute|PrivateUsers)=/;
  expect(set.filter((line) => harmful.test(line))).toEqual([]);
});

test("the seccomp profile allows what bubblewrap, Landlock and the browser need, and names each call once", async () => {
  const { defaultAction, syscalls } = JSON.parse(await read("seccomp.json"));
  const names: string[] = syscalls.flatMap((one: { names: string[] }) => one.names);
  expect(defaultAction).toBe("SCMP_ACT_ALLOW");
  expect(names).toEqual([...new Set(names)].toSorted());
  expect(names).toEqual(expect.arrayContaining(["bpf", "init_module", "kexec_load", "open_by_handle_at"]));
  const needed = ["unshare", "clone", "clone3", "mount", "umount2", "pivot_root", "chroot", "sethostname", "seccomp"];
  for (const call of [...needed, "landlock_create_ruleset", "process_vm_readv"]) expect(names).not.toContain(call);
});
