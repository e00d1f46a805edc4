import { InvalidArgumentError } from "commander";

/** The texts of an option's value, which commas separate. */
export function listOf(value: string): readonly string[] {
  return value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** An option's value as an amount of US dollars. */
export function dollars(value: string): number {
  const amount = Number(value);
  if (value.trim() === "" || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError("It must be an amount of US dollars, such as 0.5.");
  return amount;
}

/** An option's value as a count. */
export function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError("It must be a whole number from 1 to 9999.");
  return Number(value);
}
