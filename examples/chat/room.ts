import { all, arrayProp, create, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { type Ref, rest } from "@mongrove/mongrove";
import { Message } from "./message.ts";

/** A room. The list of rooms is live, and so is that of its newest messages. */
@rest({
  route: "/rooms",
  methods: [all({ live: true, sort: ["name"], page: false }), one(), create()],
  open: true,
})
export class Room extends FrameworkModel {
  @prop({ required: true, maxLength: 40, index: true })
  name!: string;

  // A body that could list messages would move them out of other rooms
  @rest({
    methods: [all({ live: true, sort: ["sentAt"], page: { max: 50 } }), create()],
    open: true,
  })
  @arrayProp({ items: Message, readonly: true, apart: true })
  messages?: Ref<Message>[];
}
