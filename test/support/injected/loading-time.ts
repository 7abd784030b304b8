// Preload of every test process that charges the time until the first test, spent on loading the first file.

import { beforeAll } from "bun:test";
import { chargeLoading } from "../measure/causes.ts";

beforeAll(chargeLoading);
