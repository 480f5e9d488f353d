//! Running executables.

use std::ptr::NonNull;
use std::sync::Arc;

use rectiflow_pjrt_sys as sys;
use smallvec::SmallVec;

use crate::api::function;
use crate::arguments::{Argument, borrowed_indices};
use crate::buffer::{Buffer, destroy, shape_of};
use crate::client::non_null;
use crate::error::Result;
use crate::event::Event;
use crate::form::{Form, Output};
use crate::launch::{ExecuteOptions, Launch};
use crate::loaded::LoadedExecutable;
use crate::value::c_values;

/// What one launch produced.
#[derive(Debug)]
#[must_use = "a launch without outputs reports its failure only through `events`"]
pub struct Execution {
    /// The outputs of each device, in the order of
    /// [`LoadedExecutable::devices`].
    pub outputs: Vec<Vec<Buffer>>,
    /// For each device, an event that completes with its part of the execution.
    pub events: Vec<Event>,
}

type RawBuffer = *mut sys::PJRT_Buffer;

impl LoadedExecutable {
    /// Runs on the one device the program was compiled for. Returns before the
    /// device finishes; a failure on the device appears when an output is read.
    /// A program without outputs is waited for.
    ///
    /// Arguments are borrowed and survive, also where the program would take
    /// them over: the plugin copies instead, or refuses.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if number, shape, type, dimension order or client of the
    /// arguments is not what the program expects, `UNIMPLEMENTED` if a parameter
    /// is a tuple, and what the plugin refuses. Tiles of layouts are not compared:
    /// programs that name them in layout modes have to agree.
    pub fn execute(&self, args: &[&Buffer]) -> Result<Vec<Buffer>> {
        self.check_devices(1, None)?;
        self.check(0, args.iter().copied())?;
        let raw: SmallVec<[RawBuffer; 16]> = args.iter().map(|b| b.raw.as_ptr()).collect();
        let signature = self.signature();
        let all: Vec<i64>;
        let non_donatable = if signature.donations_known {
            &signature.donated[..]
        } else {
            all = (0..args.len() as i64).collect();
            &all[..]
        };
        let mut launch = Launch::new(1, args.len(), non_donatable);
        let mut outputs = SmallVec::<[RawBuffer; 16]>::new();
        let event = self.launch_one(&mut launch, &raw, &mut outputs)?;
        let outputs = self.wrap(&outputs, 1)?.pop().unwrap_or_default();
        event.map_or(Ok(()), |event| event.wait())?;
        Ok(outputs)
    }

    /// As [`LoadedExecutable::execute`] on one device, with arguments passed by
    /// value donated: the program may reuse their memory for its outputs.
    ///
    /// # Errors
    /// As [`LoadedExecutable::execute`].
    pub fn execute_donating<'b>(
        &self,
        args: impl IntoIterator<Item = Argument<'b>>,
    ) -> Result<Vec<Buffer>> {
        let args = vec![args.into_iter().collect()];
        let mut execution = self.launch(args, &ExecuteOptions::new())?;
        if self.n_outputs() == 0 {
            execution.events.iter().try_for_each(Event::wait)?;
        }
        // The outputs carry the same failure, so the events may go unobserved.
        execution.events.drain(..).for_each(Event::detach);
        Ok(execution.outputs.pop().unwrap_or_default())
    }

    /// Runs on all devices of this process, with one list of borrowed arguments
    /// per device in the order of [`LoadedExecutable::devices`]; returns one list
    /// of outputs per device. Otherwise as [`LoadedExecutable::execute`].
    ///
    /// # Errors
    /// As [`LoadedExecutable::execute`].
    pub fn execute_sharded<'b, A>(
        &self,
        args: &[A],
        options: &ExecuteOptions,
    ) -> Result<Vec<Vec<Buffer>>>
    where
        A: AsRef<[&'b Buffer]>,
    {
        let borrow = |list: &A| list.as_ref().iter().map(|b| Argument::Borrowed(b)).collect();
        let mut execution = self.launch(args.iter().map(borrow).collect(), options)?;
        if self.n_outputs() == 0 {
            execution.events.iter().try_for_each(Event::wait)?;
        }
        execution.events.drain(..).for_each(Event::detach);
        Ok(execution.outputs)
    }

    /// The general launch: any number of devices, arguments borrowed or donated,
    /// options, and an event per device.
    ///
    /// An argument passed by value is gone afterwards, whether or not the
    /// program took its memory over. An index must be donated on all devices or
    /// on none.
    ///
    /// # Errors
    /// As [`LoadedExecutable::execute`].
    pub fn launch(
        &self,
        args: Vec<Vec<Argument<'_>>>,
        options: &ExecuteOptions,
    ) -> Result<Execution> {
        self.check_devices(args.len(), options.device.as_ref())?;
        let n_args = args.first().map_or(0, Vec::len);
        for (i, list) in args.iter().enumerate() {
            self.check(i, list.iter().map(Argument::buffer))?;
        }
        let kept = borrowed_indices(&args, self.signature(), &options.non_donatable)?;
        let raw: Vec<RawBuffer> = args.iter().flatten().map(|a| a.buffer().raw.as_ptr()).collect();
        let mut launch = Launch::new(args.len(), n_args, &kept);
        let values = c_values(&options.values);
        launch.fill(options, &values);
        let (outputs, events) = self.run(&mut launch, &raw)?;
        let outputs = self.wrap(&outputs, args.len());
        Ok(Execution { outputs: outputs?, events })
    }

    /// The hot path: one device, an event only if there is no output to carry
    /// the failure.
    fn launch_one(
        &self,
        launch: &mut Launch,
        args: &[RawBuffer],
        outputs: &mut SmallVec<[RawBuffer; 16]>,
    ) -> Result<Option<Event>> {
        outputs.resize(self.0.n_outputs, std::ptr::null_mut());
        let arg_lists = [args.as_ptr()];
        let out_lists = [outputs.as_mut_ptr()];
        let mut event = std::ptr::null_mut();
        let events = if self.0.n_outputs == 0 { &raw mut event } else { std::ptr::null_mut() };
        // SAFETY: one list of arguments and outputs each, of the lengths stated.
        unsafe { self.call(launch, arg_lists.as_ptr(), out_lists.as_ptr(), events)? };
        self.wrap_event(event)
    }

    /// Runs on all devices, with an event each.
    fn run(&self, launch: &mut Launch, args: &[RawBuffer]) -> Result<(Vec<RawBuffer>, Vec<Event>)> {
        let (n_devices, n_args) = (launch.args.num_devices, launch.args.num_args);
        let mut outputs: Vec<RawBuffer> = vec![std::ptr::null_mut(); n_devices * self.0.n_outputs];
        let mut events = vec![std::ptr::null_mut(); n_devices];
        let arg_lists: Vec<_> = (0..n_devices).map(|d| args[d * n_args..].as_ptr()).collect();
        let start = outputs.as_mut_ptr();
        // SAFETY: each offset is inside, or at the end of, `outputs`.
        let out_list = |d| unsafe { start.add(d * self.0.n_outputs) };
        let out_lists: Vec<_> = (0..n_devices).map(out_list).collect();
        // SAFETY: a list of arguments, of outputs and an event for each device.
        unsafe {
            self.call(launch, arg_lists.as_ptr(), out_lists.as_ptr(), events.as_mut_ptr())?;
        }
        let wrapped = events.into_iter().map(|event| self.wrap_event(event));
        let events = wrapped.filter_map(Result::transpose).collect::<Result<_>>()?;
        Ok((outputs, events))
    }

    /// # Safety
    /// The lists must be as long as `launch` states, and the options' borrows live.
    #[inline]
    unsafe fn call(
        &self,
        launch: &mut Launch,
        args: *const *const RawBuffer,
        outputs: *const *mut RawBuffer,
        events: *mut *mut sys::PJRT_Event,
    ) -> Result<()> {
        launch.args.executable = self.0.handle.raw.as_ptr();
        launch.args.options = launch.options.as_mut_ptr();
        launch.args.argument_lists = args;
        launch.args.output_lists = outputs;
        launch.args.device_complete_events = events;
        // SAFETY: arguments were checked to be live buffers of this client; the
        // lists are the caller's promise.
        unsafe { self.api().call(function!(PJRT_LoadedExecutable_Execute), &mut launch.args) }
    }

    fn wrap_event(&self, event: *mut sys::PJRT_Event) -> Result<Option<Event>> {
        let Some(raw) = NonNull::new(event) else { return Ok(None) };
        let client = Arc::clone(&self.0.handle.client);
        // SAFETY: a fresh event of this client.
        Ok(Some(unsafe { Event::new(raw, client, "PJRT_LoadedExecutable_Execute") }))
    }

    /// Takes ownership of raw outputs; on failure frees them.
    fn wrap(&self, raw: &[RawBuffer], n_devices: usize) -> Result<Vec<Vec<Buffer>>> {
        let n = self.0.n_outputs;
        let known = match self.outputs(&raw[..n]) {
            Ok(known) => known,
            Err(error) => {
                for raw in raw.iter().copied().filter_map(NonNull::new) {
                    // SAFETY: the outputs are ours, and are not used after this.
                    unsafe { destroy(self.api(), raw) };
                }
                return Err(error);
            }
        };
        let wrap = |(raw, known): (&RawBuffer, &Output)| {
            let shape = Arc::clone(&known.shape);
            // SAFETY: a fresh output of this client; all outputs of an executable
            // have the shape its first ones had.
            let buffer = unsafe {
                Buffer::checked(*raw, &self.0.handle.client, shape, "PJRT_LoadedExecutable_Execute")
            };
            buffer.map(|buffer| buffer.with_form(known.form.clone()))
        };
        let device = |d: usize| raw[d * n..(d + 1) * n].iter().zip(known).map(wrap).collect();
        (0..n_devices).map(device).collect()
    }

    /// Shapes and forms never change between executions, so they are asked for once.
    fn outputs(&self, outputs: &[RawBuffer]) -> Result<&[Output]> {
        if let Some(known) = self.0.outputs.get() {
            return Ok(known);
        }
        let ask = |raw: &RawBuffer| {
            let raw = non_null(*raw, "PJRT_LoadedExecutable_Execute")?;
            // SAFETY: a live output of this plugin.
            let shape = unsafe { shape_of(self.api(), raw)? };
            // SAFETY: as above, and this is its shape.
            let form = unsafe { Form::of(&self.client(), raw, &shape) };
            Ok(Output { shape: Arc::new(shape), form })
        };
        let known = outputs.iter().map(ask).collect::<Result<Vec<_>>>()?;
        Ok(self.0.outputs.get_or_init(|| known))
    }
}
