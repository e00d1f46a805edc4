import { chmod, cp, mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { execForm, type Instruction, ignoring, readDockerfile } from "./dockerfile.ts";

/** The folder of the checkout, and of the Dockerfile in it. */
export const root = resolve(import.meta.dir, "../..");
const dockerfile = join(root, "deploy/Dockerfile");

/** The instructions of our Dockerfile. */
export async function ourInstructions(): Promise<Instruction[]> {
  return readDockerfile(await readFile(dockerfile, "utf8"));
}

/** What a container of the image starts as. */
export type Image = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: string;
  readonly volume: string;
  readonly command: readonly string[];
  readonly health: readonly string[];
};

type Draft = { -readonly [Key in keyof Image]: Image[Key] };

/**
 * Carries out our Dockerfile in a folder that holds a bare Debian, as a builder would in an image
 * of it: for machines without a builder. The one other stage stands for the official image of Bun,
 * whose executable is the one that runs this.
 */
export async function buildRoot(folder: string, say: (line: string) => void): Promise<Image> {
  const isIgnored = ignoring(await readFile(`${dockerfile}.dockerignore`, "utf8"));
  const image: Draft = { env: {}, cwd: "/", user: "0", volume: "", command: [], health: [] };
  let entry: readonly string[] = [];
  const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  image.env = { PATH: path };
  const instructions = await ourInstructions();
  const last = instructions.findLastIndex(({ name }) => name === "FROM");
  for (const { name, flags, text } of instructions.slice(last + 1)) {
    say(`${name} ${text.slice(0, 90)}`);
    switch (name) {
      case "RUN":
        await run(folder, image, text);
        break;
      case "COPY":
        await copy(folder, image.cwd, flags, text, isIgnored);
        break;
      case "ENV":
        image.env = { ...image.env, ...pairs(text) };
        break;
      case "WORKDIR":
        image.cwd = resolve(image.cwd, text);
        await mkdir(join(folder, image.cwd), { recursive: true });
        break;
      case "USER":
        image.user = text;
        break;
      case "VOLUME":
        image.volume = text;
        break;
      case "ENTRYPOINT":
        entry = execForm(text);
        break;
      case "CMD":
        image.command = execForm(text);
        break;
      case "HEALTHCHECK":
        image.health = execForm(text);
        break;
      case "EXPOSE":
        break;
      default:
        throw new Error(`The Dockerfile has ${name}, which this cannot carry out`);
    }
  }
  return { ...image, command: [...entry, ...image.command] };
}

function pairs(text: string): Record<string, string> {
  return Object.fromEntries(text.split(/\s+/).map((pair) => pair.split("=", 2)));
}

/** Runs a command in the folder as its root, with the names, certificates and network of here. */
async function run(folder: string, { env, cwd }: Pick<Image, "env" | "cwd">, text: string): Promise<void> {
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  const settings = { ...env, DEBIAN_FRONTEND: "noninteractive", HOME: env.HOME ?? "/root" };
  const argv = [
    ...["bwrap", "--bind", folder, "/", "--proc", "/proc", "--dev", "/dev", "--cap-add", "ALL", "--unshare-pid"],
    ...["--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf", "--chdir", cwd, "--clearenv"],
    ...(certificates === undefined
      ? []
      : ["--ro-bind", certificates, "/dev/ca.pem", "--setenv", "NODE_EXTRA_CA_CERTS", "/dev/ca.pem"]),
    ...Object.entries(settings).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["/bin/sh", "-c", text],
  ];
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`RUN ${text}\n${`${out}${err}`.slice(-3000)}`);
}

async function copy(
  folder: string,
  cwd: string,
  { from, chmod: mode }: Readonly<Record<string, string>>,
  text: string,
  isIgnored: (path: string) => boolean,
): Promise<void> {
  const words = text.split(/\s+/);
  const named = words.at(-1) ?? "";
  const target = join(folder, resolve(cwd, named));
  for (const source of words.slice(0, -1)) {
    const into = named.endsWith("/") ? join(target, basename(source)) : target;
    await mkdir(dirname(into), { recursive: true });
    if (from !== undefined) await cp(process.execPath, into);
    else {
      if (isIgnored(source)) throw new Error(`COPY ${source}: the ignore file leaves it out`);
      const filter = (path: string) => !isIgnored(path.slice(root.length + 1));
      await cp(join(root, source), into, { recursive: true, filter });
    }
    if (mode !== undefined) await chmod(into, Number.parseInt(mode, 8));
  }
}
