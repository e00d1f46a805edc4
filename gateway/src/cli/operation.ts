import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { keyAlgorithms } from "manyhands/internal/a2a/signing/key-algorithms";
import type { Scope } from "manyhands/internal/core/caller";
import type { CliContext } from "../session/context.ts";
import type { DeliveriesOptions } from "./deliveries.ts";
import type { KeysOptions } from "./keys.ts";
import { addStarts } from "./starts/add-starts.ts";
import { addToken, lifeOf, listTokens, revokeToken, scopesOf } from "./tokens.ts";

// Loaded by the command that is called: none needs what all need.
const deliveries = () => import("./deliveries.ts");
const backups = () => import("./home/backup.ts");
const restoring = () => import("./home/restore.ts");
const keysModule = () => import("./keys.ts");
const deletion = () => import("./runs/delete-runs.ts");

/** Makes the options that every command has. */
type CommonOptions = { readonly config: () => Option; readonly json: () => Option };

type Group = {
  readonly program: Command;
  readonly context: CliContext;
  readonly done: (exitCode: number) => void;
  readonly options: CommonOptions;
};

/**
 * Adds the commands of who operates the servers: `tokens`, `keys`, `deliveries`, what looks after
 * the home and what starts by itself.
 */
export function addOperation(
  program: Command,
  context: CliContext,
  done: (exitCode: number) => void,
  options: CommonOptions,
): void {
  const group = { program, context, done, options };
  addTokens(group);
  addKeys(group);
  addDeliveries(group);
  addHome(group);
  addStarts(program, context, done, options);
}

function addHome({ program, context, done, options: { config, json } }: Group): void {
  program
    .command("prune")
    .description("delete now what [retention] no longer keeps")
    .addOption(config())
    .addOption(json())
    .option("--dry-run", "say what would be deleted, and delete nothing")
    .option("--compact", "rewrite the store, so that nothing deleted is left in unused space")
    .action(async (options) => done(await (await deletion()).prune(options, context)));
  program
    .command("backup")
    .description("write the home to one file, while servers work in it")
    .addOption(config())
    .argument("<file>", "the new file, a compressed tar archive")
    .action(async (file: string, options) => done(await (await backups()).backup(file, options, context)));
  program
    .command("restore")
    .description("restore the home from a backup; stop its servers first")
    .addOption(config())
    .argument("<file>", "what `backup` wrote")
    .option("--replace", "move an existing home aside")
    .action(async (file: string, options) => done(await (await restoring()).restore(file, options, context)));
}

function addTokens({ program, context, done, options: { config, json } }: Group): void {
  const tokens = program.command("tokens").description("list, add and revoke the tokens of callers");
  const leaf = (name: string, description: string, isDefault = false) =>
    tokens.command(name, { isDefault }).description(description).addOption(config()).addOption(json());
  leaf("list", "list the tokens, without their secrets", true).action(async (options) =>
    done(await listTokens(options, context)),
  );
  leaf("add", "make a token and show its secret, this once")
    .argument("<name>", "the token's name")
    .option("--principal <name>", "who its holder is (default: the token's name)")
    .addOption(
      new Option("--scopes <list>", "what it allows, separated by commas: read, run, admin")
        .argParser(grantable)
        .default(["read", "run"], "read,run"),
    )
    .option("--expires <time>", "how long it lasts, such as 12h or 30d (default: until it is revoked)", life)
    .action(async (name: string, options) => done(await addToken(name, options, context)));
  leaf("revoke", "revoke a token, at once")
    .argument("<name>", "the token's name")
    .action(async (name: string, options) => done(await revokeToken(name, options, context)));
}

function addKeys({ program, context, done, options: { config, json } }: Group): void {
  const keys = program.command("keys").description("show and replace the keys that sign cards and notifications");
  const leaf = (name: string, description: string, isDefault = false) =>
    keys.command(name, { isDefault }).description(description).addOption(config()).addOption(json());
  leaf("list", "list the public keys; with --json, as a JWK set to pin", true).action(async (options: KeysOptions) =>
    done(await (await keysModule()).listKeys(options, context)),
  );
  leaf("rotate", "sign with a new key; the old one stays beside it for a week")
    .addOption(new Option("--algorithm <name>", "algorithm of the new key (default: as before)").choices(keyAlgorithms))
    .option("--drop-former", "drop all earlier keys at once, in case one has leaked")
    .action(async (options) => done(await (await keysModule()).rotateKeys(options, context)));
  leaf("reseal", "encrypt what several machines share with the new engine.secret_key").action(
    async (options: KeysOptions) => done(await (await keysModule()).resealKeys(options, context)),
  );
}

function addDeliveries({ program, context, done, options: { config, json } }: Group): void {
  const group = program.command("deliveries").description("push notifications that could not be delivered");
  const leaf = (name: string, description: string, isDefault = false) =>
    group.command(name, { isDefault }).description(description).addOption(config()).addOption(json());
  const id = () => new Argument("<id>", "the delivery's id");
  leaf("list", "list the deliveries given up in the last 30 days", true)
    .option("--all", "also deliveries that arrived, were removed or are still being tried")
    .action(async (options) => done(await (await deliveries()).listDeliveries(options, context)));
  leaf("show", "show one delivery")
    .addArgument(id())
    .action(async (one: string, options: DeliveriesOptions) =>
      done(await (await deliveries()).showDelivery(one, options, context)),
    );
  leaf("retry", "send the missed notifications again")
    .addArgument(id())
    .action(async (one: string, options: DeliveriesOptions) =>
      done(await (await deliveries()).retryDelivery(one, options, context)),
    );
}

function grantable(value: string): readonly Scope[] {
  const scopes = scopesOf(value);
  if (scopes === undefined) throw new InvalidArgumentError("It must be a list of read, run and admin.");
  return scopes;
}

function life(value: string): number {
  const ms = lifeOf(value);
  if (ms === undefined) throw new InvalidArgumentError("It must be a time such as 90m, 12h or 30d.");
  return ms;
}
