// Preload of every test process that accounts for the time until its first test, which is spent loading the first file.

import { beforeAll } from "bun:test";
import { chargeLoading } from "../measure/causes.ts";

beforeAll(chargeLoading);
