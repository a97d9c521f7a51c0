/**
 * Stock that never goes below zero: a hook that names its fields binds the write to them.
 *
 * @module
 */
import express from "express";
import { all, arrayProp, create, Framework, FrameworkModel, one, onlyIf } from "@mongrove/mongrove";
import { type FrameworkRequest, prop, remove, rest, RestError } from "@mongrove/mongrove";
import { update } from "@mongrove/mongrove";

type Counted = Pick<Product, "stock" | "orders">;

const suffices = onlyIf(["stock", "orders"], ({ body }: FrameworkRequest, product: Counted) => {
  const { stock = product.stock, count = 0 } = body ?? {};
  const ordered = product.orders.reduce((sum, order) => sum + order.count, count);
  if (ordered > stock) throw new RestError(409, { code: "SOLD_OUT" });
  return true;
});

class Order extends FrameworkModel {
  @prop({ type: Number, required: true, min: 1 })
  count!: number;
}

@rest({ route: "/products", methods: [one(), create(), update({ postFetch: suffices })] })
class Product extends FrameworkModel {
  @prop({ type: Number, required: true, min: 0 })
  stock!: number;

  @rest({ methods: [all({ page: false }), create(), remove()] })
  @arrayProp({ items: Order, embedded: true, readonly: true })
  orders!: Order[];
}

export const app = express();
app.use(express.json());
app.use(Framework.initialize({
  models: [Product],
  strict: true,
  guard: (req) => req.headers["x-user"] !== undefined,
}));
app.use(Framework.errors());
