// API type of a transaction, including the highlights if requested.

import type { DataOf } from "../api/client.ts";

export type TransactionData = DataOf<"/api/v1/transactions">[number];
