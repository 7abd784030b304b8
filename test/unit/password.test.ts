// Passwords: requirements, hashing, and the number of concurrent hashes.

import { describe, expect, spyOn, test } from "bun:test";
import {
  describePasswordProblem,
  hashPassword,
  PASSWORD_MAX_LENGTH,
  PASSWORD_MAX_RUNNING,
  PASSWORD_MAX_WAITING,
  PASSWORD_MEMORY_KIB,
  PASSWORD_RETRY_AFTER_SECONDS,
  PASSWORD_TIME_COST,
  PasswordGate,
  verifyPassword,
} from "../../src/access/password.ts";
import { DomainError } from "../../src/base/errors.ts";

const PASSWORD = "correct horse battery";
const EMAIL = "night@example.net";

describe("a password hash", () => {
  test("is Argon2id with the stated memory and passes", async () => {
    const parameters = `$argon2id$v=19$m=${PASSWORD_MEMORY_KIB},t=${PASSWORD_TIME_COST},p=1$`;
    expect(await hashPassword(PASSWORD, EMAIL)).toStartWith(parameters);
  });

  test("differs each time, and verifies", async () => {
    const [first, second] = [await hashPassword(PASSWORD, EMAIL), await hashPassword(PASSWORD, EMAIL)];
    expect(first).not.toBe(second);
    expect(await verifyPassword(PASSWORD, first)).toBe(true);
    expect(await verifyPassword(PASSWORD, second)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, first)).toBe(false);
  });

  test("verifies with any accent composition", async () => {
    const hash = await hashPassword("caf\u00e9 au lait", EMAIL);
    expect(await verifyPassword("cafe\u0301 au lait", hash)).toBe(true);
    expect(await verifyPassword("cafe au lait", hash)).toBe(false);
  });

  test("is refused for an invalid password, with its pointer and without its value", async () => {
    const error = await refusal(hashPassword("short-one", EMAIL));
    expect(error.code).toBe("validation_failed");
    expect(error.params).toEqual({ issues: [{ path: "/password", message: "must have at least 10 characters" }] });
  });

  test("is computed off the calling thread", async () => {
    const hashing = hashPassword(PASSWORD, EMAIL);
    await settle();
    // A synchronous result would be available by now; one from another thread needs a turn of the event loop.
    expect(Bun.peek.status(hashing)).toBe("pending");
    await hashing;
  });
});

describe("verifying without a hash", () => {
  test("returns false", async () => expect(await verifyPassword(PASSWORD, null)).toBe(false));

  test("does the work of a real verification: a hash of the same parameters", async () => {
    const hash = await hashPassword(PASSWORD, EMAIL);
    const verify = spyOn(Bun.password, "verify");
    try {
      await verifyPassword("another password", hash);
      await verifyPassword("another password", null);
      const [known, unknown] = verify.mock.calls.map(([, usedHash]) => String(usedHash));
      expect(known).toBe(hash);
      expect(shapeOf(unknown)).toBe(shapeOf(hash));
    } finally {
      verify.mockRestore();
    }
  });

  test("returns false for impossible passwords, with or without an account", async () => {
    const hash = await hashPassword(PASSWORD, EMAIL);
    for (const text of ["", "x".repeat(5000), "\ud800 lone surrogate"]) {
      expect(await verifyPassword(text, hash)).toBe(false);
      expect(await verifyPassword(text, null)).toBe(false);
    }
  });
});

describe("password rules", () => {
  test.each([
    "1234567890",
    "1111111112",
    "pässwörter",
    "🔑🔑🔑🔑🔑🔒🔑🔑🔑🔑",
    "xy".repeat(PASSWORD_MAX_LENGTH / 2),
    "🔑🔒".repeat(PASSWORD_MAX_LENGTH / 2),
    "ten spaces          ",
    "night@example.net!",
    "night night night",
    "example.net",
  ])("accept %p", (password) => expect(describePasswordProblem(password, EMAIL)).toBeNull());

  test.each([
    ["", "at least 10"],
    ["123456789", "at least 10"],
    ["🔑🔑🔑🔑🔑🔑🔑🔑🔑", "at least 10"],
    ["e\u0301".repeat(9), "at least 10"],
    ["x".repeat(PASSWORD_MAX_LENGTH + 1), "at most 1024"],
    ["🔑".repeat(PASSWORD_MAX_LENGTH + 1), "at most 1024"],
    ["lone surrogate \udc00", "valid Unicode"],
    ["from a file\r", "control characters"],
    ["nul \0 inside it", "control characters"],
    [" ".repeat(10), "visible characters"],
    ["\u3164".repeat(10), "visible characters"],
    [" \u200b\u2800\u115f\u00a0".repeat(3), "visible characters"],
    ["1111111111", "not one repeated"],
    ["🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑", "not one repeated"],
    ["e\u0301\u00e9".repeat(5), "not one repeated"],
    ["1 1 1 1 1 \u200b1", "not one repeated"],
    ["night@example.net", "e-mail address"],
    ["Night@EXAMPLE.net ", "e-mail address"],
    ["night\u200b@example.net", "e-mail address"],
  ])("give an error for %j", (password, reason) => expect(describePasswordProblem(password, EMAIL)).toContain(reason));

  test("refuse the part before the @, if long enough", () => {
    expect(describePasswordProblem("Night.Shift", "night.shift@example.net")).toContain("e-mail address");
    expect(describePasswordProblem("night.shifts", "night.shift@example.net")).toBeNull();
  });
});

describe("the hashing gate", () => {
  test("runs up to its limit concurrently, and the others in order", async () => {
    const gate = new PasswordGate(2, 10);
    const jobs = [new Job(), new Job(), new Job(), new Job()];
    const results = jobs.map((job, index) => gate.run(job.work).then(() => index));
    await settle();
    expect(jobs.map((job) => job.started)).toEqual([true, true, false, false]);
    jobs[1]?.finish();
    expect(await results[1]).toBe(1);
    await settle();
    expect(jobs.map((job) => job.started)).toEqual([true, true, true, false]);
    for (const job of jobs) job.finish();
    expect(await Promise.all(results)).toEqual([0, 1, 2, 3]);
  });

  test("refuses when its queue is full, with Retry-After, and accepts the next when there is room", async () => {
    const gate = new PasswordGate(1, 1);
    const [running, waiting, later] = [new Job(), new Job(), new Job()];
    const first = gate.run(running.work);
    const second = gate.run(waiting.work);
    const error = await refusal(gate.run(async () => {}));
    expect(error.code).toBe("rate_limit_exceeded");
    expect(error.params).toEqual({ retry_after_seconds: PASSWORD_RETRY_AFTER_SECONDS });
    for (const job of [running, waiting, later]) job.finish();
    await Promise.all([first, second]);
    await gate.run(later.work);
    expect(later.started).toBe(true);
  });

  test("has a separate queue for known callers that unknown callers cannot fill", async () => {
    const gate = new PasswordGate(1, 1);
    const [running, unknown, known] = [new Job(), new Job(), new Job()];
    const all = [gate.run(running.work), gate.run(unknown.work)];
    expect((await refusal(gate.run(async () => {}))).code).toBe("rate_limit_exceeded");
    all.push(gate.run(known.work, true));
    expect((await refusal(gate.run(async () => {}, true))).code).toBe("rate_limit_exceeded");
    running.finish();
    await settle();
    expect([unknown.started, known.started]).toEqual([false, true]);
    for (const job of [unknown, known]) job.finish();
    await Promise.all(all);
    expect(unknown.started).toBe(true);
  });

  test("alternates between both queues, so that known callers do not block unknown ones either", async () => {
    const gate = new PasswordGate(1, 4);
    const order: string[] = [];
    const first = new Job();
    const all = [gate.run(first.work)];
    for (const name of ["unknown 1", "unknown 2"]) all.push(gate.run(async () => void order.push(name)));
    for (const name of ["known 1", "known 2", "known 3"]) all.push(gate.run(async () => void order.push(name), true));
    first.finish();
    await Promise.all(all);
    expect(order).toEqual(["known 1", "unknown 1", "known 2", "unknown 2", "known 3"]);
  });

  test("passes its slot on when a task fails", async () => {
    const gate = new PasswordGate(1, 1);
    for (let round = 0; round < 3; round += 1)
      await expect(gate.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await gate.run(async () => "done")).toBe("done");
  });

  test("covers both hashing and verifying", async () => {
    const capacity = PASSWORD_MAX_RUNNING + PASSWORD_MAX_WAITING;
    // Minimal cost: the queue is under test, not the hash.
    const cheap = await Bun.password.hash(PASSWORD, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
    const unknownCallers = Array.from({ length: capacity + 3 }, () => verifyPassword(PASSWORD, cheap));
    const known = Array.from({ length: PASSWORD_MAX_WAITING + 2 }, (_, index) =>
      index % 16 === 0 ? hashPassword(PASSWORD, EMAIL) : verifyPassword(PASSWORD, cheap, true),
    );
    const refusals = async (attempts: Promise<unknown>[]) =>
      (await Promise.allSettled(attempts)).flatMap((outcome, position) =>
        outcome.status === "rejected" ? [[position, (outcome.reason as DomainError).code]] : [],
      );
    const [unknownRefusals, knownRefusals] = await Promise.all([refusals(unknownCallers), refusals(known)]);
    expect(unknownRefusals).toEqual([0, 1, 2].map((index) => [capacity + index, "rate_limit_exceeded"]));
    expect(knownRefusals).toEqual([0, 1].map((index) => [PASSWORD_MAX_WAITING + index, "rate_limit_exceeded"]));
  });
});

class Job {
  started = false;
  private readonly end = Promise.withResolvers<void>();
  readonly finish = this.end.resolve;
  readonly work = (): Promise<void> => {
    this.started = true;
    return this.end.promise;
  };
}

/** Runs all pending microtasks. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
}

async function refusal(promise: Promise<unknown>): Promise<DomainError> {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof DomainError)) throw new Error(`expected a DomainError, got ${String(error)}`);
  return error;
}

/** Parameters of a PHC hash, and lengths of its salt and tag. */
function shapeOf(hash = ""): string {
  const [, algorithm, version, parameters, salt, tag] = hash.split("$");
  return [algorithm, version, parameters, salt?.length, tag?.length].join(" ");
}
