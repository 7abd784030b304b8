// Preload of every test process: charges the time until the first test, which is the loading of the first file.

import { beforeAll } from "bun:test";
import { chargeLoading } from "../measure/causes.ts";

beforeAll(chargeLoading);
