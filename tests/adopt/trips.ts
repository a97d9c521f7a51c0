import mongoose, { type Document, type Query } from "mongoose";
import { all, create, one, remove, update } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";

const { Schema } = mongoose;

const reviewSchema = new Schema({
  text: { type: String, required: true },
  stars: { type: Number, min: 1, max: 5 },
  moderation: { note: String },
});

const tripSchema = new Schema({
  title: { type: String, required: true, trim: true },
  slug: String,
  price: { type: Number, default: 10 },
  secretPrice: Number,
  code: { type: String, select: false },
  place: { city: String, street: String },
  tags: [String],
  extra: {},
  counts: { type: Map, of: Number },
  reviews: [reviewSchema],
  private: { type: Boolean, default: false },
}, { timestamps: true, toJSON: { virtuals: true } });

tripSchema.virtual("label").get(function (this: { title: string; secretPrice?: number }) {
  return `${this.title} ${this.secretPrice}`;
});
tripSchema.virtual("shout").get(function (this: { title?: string }) {
  return this.title?.toUpperCase();
});
tripSchema.pre("save", function (this: Document & { slug?: string | null; title: string }) {
  this.slug = this.title.toLowerCase();
});
tripSchema.pre(/^find/, function (this: Query<unknown, unknown>) {
  this.where({ private: { $ne: true } });
});

export const TripModel = mongoose.model("AdoptedTrip", tripSchema);

export const Trip = adopt(TripModel, {
  shown: ["title", "slug", "place.city", "tags", "extra", "counts", "reviews.text"],
  virtuals: ["shout"],
  writable: ["title", "secretPrice", "place", "tags", "extra", "counts", "reviews", "private"],
  rest: {
    route: "/adopted-trips",
    methods: [all({ sort: ["title"] }), one(), create(), update(), remove()],
  },
});
