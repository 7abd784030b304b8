// A transaction as the API tells it, with its highlights where they were asked for.

import type { DataOf } from "../api/client.ts";

export type TransactionData = DataOf<"/api/v1/transactions">[number];
